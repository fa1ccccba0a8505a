"""Connecting: the world must be named, the token comes from the environment, the workspace must be clear."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hmc_crowd_prolific import StudySettings, connect
from hmc_crowd_prolific._drafts import CodeAction, CompletionCode, check_codes
from hmc_crowd_prolific._settings import router_url
from hmc_crowd_prolific._units import maximum_minutes, minor_of

from hmc_crowd.errors import InputError

TOKEN = {"HMC_CROWD_PROLIFIC_TOKEN": "secret"}
LOCAL = "http://127.0.0.1:8000/api/v1/"


@pytest.mark.parametrize(
    ("address", "mode", "expected"),
    [
        (None, None, "read"),
        (None, "live", "live"),
        (None, "read", "read"),
        (LOCAL, None, "stub"),
        (LOCAL, "read", "read"),
        ("http://localhost:1/api/v1", "stub", "stub"),
    ],
)
def test_what_may_be_written_depends_on_a_mode_that_is_named(address, mode, expected) -> None:
    with connect(address, mode=mode, environment=TOKEN) as platform:
        assert platform.client.http.mode == expected


@pytest.mark.parametrize(
    ("address", "mode", "message"),
    [
        (None, "stub", "is not on this machine, so no stand-in"),
        (LOCAL, "live", "is on this machine, which is never live"),
        (None, "sandbox", "use 'read', 'stub' or 'live'"),
        ("http://api.prolific.com/api/v1/", None, "give an https address, because the token"),
        ("ftp://127.0.0.1/", None, "give an https address"),
        ("api.prolific.com", None, "give an https address"),
    ],
)
def test_a_mode_or_an_address_that_does_not_fit_is_refused(address, mode, message) -> None:
    with pytest.raises(InputError, match=message):
        connect(address, mode=mode, environment=TOKEN)


@pytest.mark.parametrize("environment", [{}, {"HMC_CROWD_PROLIFIC_TOKEN": " "}])
def test_without_a_token_nothing_begins(environment) -> None:
    with pytest.raises(InputError, match="set HMC_CROWD_PROLIFIC_TOKEN"):
        connect(environment=environment)


@pytest.mark.parametrize("token", ["line\nbreak", "naïve"])
def test_a_token_that_no_header_can_carry_is_refused_without_showing_it(token) -> None:
    with pytest.raises(InputError, match="copy it from Prolific again") as caught:
        connect(environment={"HMC_CROWD_PROLIFIC_TOKEN": token})
    assert token not in str(caught.value)


def test_the_environment_fills_what_is_not_passed() -> None:
    environment = {
        **TOKEN,
        "HMC_CROWD_PROLIFIC_WORKSPACE": "w",
        "HMC_CROWD_PROLIFIC_PROJECT": "p",
        "HMC_CROWD_PROLIFIC_STUDY_URL": "https://crowd.example.org/arrive",
        "HMC_CROWD_PROLIFIC_MODE": "live",
    }
    with connect(settings=StudySettings(project="other"), environment=environment) as platform:
        assert platform.settings == replace(
            StudySettings(), workspace="w", project="other", study_url="https://crowd.example.org/arrive"
        )
        assert platform.client.http.mode == "live"


def test_the_environment_names_another_address_and_what_is_passed_goes_before_it() -> None:
    environment = {**TOKEN, "HMC_CROWD_PROLIFIC_URL": LOCAL}
    with connect(environment=environment) as platform:
        assert (platform.client.http.base_url, platform.client.http.mode) == (LOCAL, "stub")
    with connect("http://localhost:1/api/v1/", environment=environment) as platform:
        assert platform.client.http.base_url == "http://localhost:1/api/v1/"
    with connect(environment={**TOKEN, "HMC_CROWD_PROLIFIC_URL": " "}) as platform:
        assert platform.client.http.base_url == "https://api.prolific.com/api/v1/"
    with pytest.raises(InputError, match="give an https address, because the token"):
        connect(environment={**TOKEN, "HMC_CROWD_PROLIFIC_URL": "http://prolific.example.org/"})


@pytest.mark.parametrize("missing", ["project", "study_url"])
def test_publishing_says_what_is_missing(lab, missing) -> None:
    with pytest.raises(InputError, match=rf"needs {missing}; set HMC_CROWD_PROLIFIC_{missing.upper()}"):
        lab.connect(**{missing: None}).recruit(lab.order())


def test_the_only_workspace_is_taken(lab) -> None:
    account = lab.connect(workspace=None).account()
    assert (account.account, account.mode) == (f"workspace {lab.world.workspace}", "stub")
    assert str(account.balance) == "100,000.00 USD"


@pytest.mark.parametrize(
    "url",
    [
        "http://crowd.example.org/",
        "crowd.example.org",
        "https://x.org/?STUDY_ID=1",
        "https://x.org/#top",
        "javascript:1",
    ],
)
def test_a_router_address_that_cannot_work_is_refused(url) -> None:
    with pytest.raises(InputError, match="study_url is"):
        StudySettings(study_url=url)


def test_the_router_address_keeps_its_own_query() -> None:
    assert router_url("http://127.0.0.1:80/a?x=1").startswith(
        "http://127.0.0.1:80/a?x=1&PROLIFIC_PID={{%PROLIFIC_PID%}}"
    )


# 2 + 2 t + 2 sqrt(t), rounded up: t = 1: 6; t = 2: 8.83; t = 16: 42.
@pytest.mark.parametrize(("t", "least"), [(1, 6), (2, 9), (16, 42)])
def test_the_longest_time_follows_prolifics_formula(t, least) -> None:
    assert maximum_minutes(t) == least


def test_minor_and_major_are_inverse() -> None:
    assert [minor_of(f"{cents // 100}.{cents % 100:02d}") for cents in (5, 30, 150, 99_999)] == [5, 30, 150, 99_999]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CodeAction("APPROVE"), "action is 'APPROVE'"),
        (lambda: CodeAction("REQUEST_RETURN"), "needs return_reason"),
        (lambda: CodeAction("ADD_TO_PARTICIPANT_GROUP"), "needs participant_group"),
        (lambda: CompletionCode("A", "DONE"), "code_type is 'DONE'"),
        (lambda: CompletionCode("A", actor="nobody"), "actor is 'nobody'"),
        (
            lambda: CompletionCode("A", actions=(CodeAction("MANUALLY_REVIEW"), CodeAction("AUTOMATICALLY_APPROVE"))),
            "keep one of the two",
        ),
        (lambda: CompletionCode("A", actions=(CodeAction("DYNAMIC_PAYMENT"),)), "needs actor='researcher'"),
        (lambda: check_codes([CompletionCode("A"), CompletionCode("A")], reward_minor=1), "must be unique"),
        (lambda: check_codes([CompletionCode(None)], reward_minor=1), "have no actions"),
        (
            lambda: check_codes(
                [CompletionCode("A", actions=(CodeAction("FIXED_SCREEN_OUT_PAYMENT", fixed_screen_out_reward=5),))],
                reward_minor=5,
            ),
            "not below the reward of 5",
        ),
    ],
)
def test_completion_codes_that_prolific_forbids_are_refused_here(make, message) -> None:
    with pytest.raises(InputError, match=message):
        make()
