"""Publishing once, whatever breaks (acceptance cases B01 to B05 and B32)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from hmc_crowd.errors import (
    BudgetError,
    InputError,
    NeedsHumanError,
    PlatformError,
    PlatformUnavailableError,
    StateError,
)
from hmc_crowd.platform import Recruitment

AFTER = ["reset_after", "status_after", "hang_after", "truncate_after", "html_after"]
BEFORE = ["reset_before", "status_before", "hang_before", "html_before"]


def live(lab) -> list[str]:
    return [each for each in lab.world.studies.values() if each.status != "UNPUBLISHED"]


@pytest.mark.parametrize("fault", AFTER)
def test_b01_a_create_that_broke_after_its_commit_leaves_one_draft_which_is_adopted(lab, fault) -> None:
    lab.chaos.inject(fault, match=r"POST \S*/studies/$")
    remote = lab.connect(broken=True).recruit(lab.order())
    assert list(lab.world.studies) == [remote.hit_id]
    assert lab.chaos.count(r"POST \S*/studies/$") == 1
    assert remote.is_open


@pytest.mark.parametrize("fault", AFTER)
def test_b01_a_create_whose_draft_cannot_be_looked_for_is_adopted_after_a_restart(lab, fault) -> None:
    lab.chaos.inject(fault, match=r"POST \S*/studies/$")
    lab.chaos.inject("status_before", match=r"GET \S*/projects/\S*/studies/", nth=2, times=99, status=503)
    with pytest.raises(PlatformUnavailableError, match="gave up after"):
        lab.connect(broken=True).recruit(lab.order())
    remote = lab.connect().recruit(lab.order())
    assert list(lab.world.studies) == [remote.hit_id]


@pytest.mark.parametrize("fault", BEFORE)
def test_a_create_that_never_arrived_may_be_repeated(lab, fault) -> None:
    lab.chaos.inject(fault, match=r"POST \S*/studies/$")
    platform = lab.connect(broken=True)
    with pytest.raises(PlatformUnavailableError, match="No draft is there: try again"):
        platform.recruit(lab.order())
    platform.recruit(lab.order())
    assert len(live(lab)) == 1


@pytest.mark.parametrize("fault", AFTER)
def test_b02_a_publish_that_broke_after_its_commit_is_seen_and_not_sent_again(lab, fault) -> None:
    lab.chaos.inject(fault, match=r"POST \S*/transition/")
    remote = lab.connect(broken=True).recruit(lab.order())
    assert remote.is_open
    assert lab.chaos.count(r"POST \S*/transition/") == 1


def test_b02_after_a_restart_get_shows_active_and_no_second_publish_goes_out(lab) -> None:
    lab.chaos.inject("reset_after", match=r"POST \S*/transition/")
    lab.chaos.inject("status_before", match=r"GET \S*/studies/\w+/$", nth=3, times=99, status=503)
    with pytest.raises(PlatformUnavailableError):
        lab.connect(broken=True).recruit(lab.order())
    assert lab.connect().recruit(lab.order()).is_open
    assert lab.standin.calls("POST", "studies/*/transition/") == 1


def test_b02_an_action_that_has_happened_is_not_sent_again(lab) -> None:
    studies = lab.connect().client.studies
    study = lab.connect().recruit(lab.order()).hit_id
    for action in ("PUBLISH", "PAUSE", "PAUSE", "START", "START", "STOP", "STOP", "PUBLISH"):
        studies.move(study, action)
    # One PUBLISH, and one each of PAUSE, START and STOP.
    assert lab.standin.calls("POST", "studies/*/transition/") == 4


def test_b03_a_balance_below_the_cost_is_refused_with_the_figures(open_lab) -> None:
    # 3 places of 2.00 USD and 42.8% fee: 6.00 + 2.57 = 8.57 USD, against 8.56.
    lab = open_lab(balance_minor=856)
    with pytest.raises(BudgetError, match=r"would cost 8\.57 USD .* has 8\.56 USD available, 0\.01 USD too little"):
        lab.connect().recruit(lab.order())
    assert lab.world.studies == {}
    assert lab.standin.calls("POST", "studies/") == 0


def test_b03_a_balance_that_fell_since_the_draft_was_made_is_noticed_before_publishing(lab) -> None:
    platform = lab.connect()
    lab.chaos.inject("reset_before", match=r"POST \S*/transition/")
    with pytest.raises(PlatformUnavailableError):
        lab.connect(broken=True).recruit(lab.order())
    lab.world.balance_minor = 100
    with pytest.raises(BudgetError, match="nothing was published"):
        platform.recruit(lab.order())
    assert live(lab) == []


def test_b04_two_processes_that_top_up_to_50_end_at_50(lab) -> None:
    study = lab.connect().recruit(lab.order(places=10)).hit_id
    platforms = [lab.connect() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda platform: platform.set_places(study, 50), platforms))
    assert lab.world.study(study).body.total_available_places == 50


def test_b04_a_top_up_that_broke_is_repeated_without_harm(lab) -> None:
    platform = lab.connect(broken=True)
    study = platform.recruit(lab.order(places=10)).hit_id
    lab.chaos.inject("reset_after", match="PATCH", times=2)
    assert platform.set_places(study, 50).redundancy == 50
    assert lab.world.study(study).body.total_available_places == 50


def test_b05_more_places_for_a_completed_study_need_reopen(lab) -> None:
    platform = lab.connect()
    study = platform.recruit(lab.order(places=1)).hit_id
    platform.approve(lab.submit(study, "ann"))
    assert lab.world.study(study).status == "COMPLETED"
    with pytest.raises(StateError, match=r"COMPLETED; more places make it recruit again.*reopen=True"):
        platform.set_places(study, 2)
    assert lab.world.study(study).body.total_available_places == 1
    assert platform.set_places(study, 2, reopen=True).is_open


def test_places_cannot_be_lowered(lab) -> None:
    platform = lab.connect()
    study = platform.recruit(lab.order(places=3)).hit_id
    with pytest.raises(PlatformError, match="has 3 places; Prolific cannot lower them to 2"):
        platform.set_places(study, 2)


# 10 minutes at 8.00 USD an hour are 133.33 cents.
@pytest.mark.parametrize(("pay", "enough"), [(133, False), (134, True)])
def test_b32_pay_below_the_minimum_wage_is_refused(lab, pay, enough) -> None:
    platform = lab.connect()
    if enough:
        assert platform.recruit(lab.order(pay_minor=pay)).is_open
        return
    with pytest.raises(
        InputError, match=r"1\.33 USD for 10 minutes .* below the least of 8\.00 USD; pay at least 1\.34"
    ):
        platform.recruit(lab.order(pay_minor=pay))
    assert lab.world.calls == []


def test_b32_the_minimum_wage_can_be_lifted_on_purpose(lab) -> None:
    assert lab.connect(minimum_hourly_minor=0).recruit(lab.order(pay_minor=1)).is_open


def test_a_round_is_one_study_with_places_for_every_submission(lab) -> None:
    hits = [lab.hit("a", redundancy=3), lab.hit("b", redundancy=2)]
    remote = lab.connect().recruit(Recruitment.for_hits("round-1", hits, expected_s=600))
    body = lab.world.study(remote.hit_id).body
    assert (len(lab.world.studies), body.total_available_places) == (1, 5)
    assert body.submissions_config.max_submissions_per_participant == 2
    assert body.external_study_url.startswith("https://crowd.example.org/arrive?PROLIFIC_PID={{%PROLIFIC_PID%}}&")
    assert body.internal_name == "Judge [hmc:round-1]"
    assert '"key": "round-1"' in body.metadata


def test_hits_of_different_pay_are_not_recruited_for_together(lab) -> None:
    with pytest.raises(InputError, match="split by pay"):
        Recruitment.for_hits("r", [lab.hit("a"), lab.hit("b", pay_minor=201)], expected_s=600)


def test_the_quote_says_cost_and_submissions_per_participant(lab) -> None:
    quote = lab.connect().quote(lab.order(places=10, per_worker=4))
    # 10 places of 2.00 USD: 20.00, and 42.8% fee: 8.56.
    assert (quote.rewards_minor, quote.fees_minor, quote.total_minor) == (2000, 856, 2856)
    assert "at most 4 for one participant: 28.56 USD, of which fees and tax 8.56 USD" in str(quote)
    assert lab.world.studies == {}


def test_asking_again_under_a_key_returns_the_study_that_exists(lab) -> None:
    first = lab.connect().recruit(lab.order())
    assert lab.connect().recruit(lab.order()) == first
    assert lab.standin.calls("POST", "studies/") == 1


def test_other_content_under_a_known_key_is_refused(lab) -> None:
    platform = lab.connect()
    platform.recruit(lab.order())
    with pytest.raises(PlatformError, match="under the key 'round-1' with other content"):
        platform.recruit(lab.order(pay_minor=300))


def test_a_draft_is_not_found_as_published(lab) -> None:
    lab.chaos.inject("reset_before", match=r"POST \S*/transition/")
    with pytest.raises(PlatformUnavailableError):
        lab.connect(broken=True).recruit(lab.order())
    assert len(lab.world.studies) == 1
    assert lab.connect().find("round-1") is None


def test_a_draft_too_many_is_deleted_and_one_study_recruits(lab) -> None:
    # The gateway sends the create on two times.
    lab.chaos.inject("twice", match=r"POST \S*/studies/$")
    lab.connect(broken=True).recruit(lab.order())
    assert [each.status for each in lab.world.studies.values()] == ["ACTIVE"]


def test_processes_that_publish_the_same_key_at_once_publish_one_study(lab) -> None:
    platforms = [lab.connect() for _ in range(4)]

    def publish(platform) -> str:
        for _ in range(20):
            try:
                return platform.recruit(lab.order()).hit_id
            except PlatformError:
                continue
        raise AssertionError("never published")

    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(publish, platforms))
    assert len(live(lab)) == 1
    assert found == {live(lab)[0].id}


def test_two_studies_that_recruit_under_one_key_are_for_a_person(lab) -> None:
    platform = lab.connect()
    study = lab.world.study(platform.recruit(lab.order()).hit_id)
    lab.world.studies["copy"] = type(study)("copy", study.body, study.created, study.project, status="ACTIVE")
    with pytest.raises(NeedsHumanError, match="2 studies recruit under the key 'round-1'"):
        platform.recruit(lab.order())
    with pytest.raises(NeedsHumanError, match="stop all but one"):
        platform.find("round-1")


def test_sensitive_items_need_a_content_warning(lab) -> None:
    with pytest.raises(InputError, match="items flagged as sensitive; set content_warnings"):
        lab.connect().recruit(lab.order(is_sensitive=True))
    remote = lab.connect(content_warnings=("sensitive",)).recruit(lab.order(is_sensitive=True))
    assert lab.world.study(remote.hit_id).body.content_warnings == ["sensitive"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"currency": "GBP", "pay_minor": 500}, "keeps its money in USD"),
        ({"places": 0}, "places of the study is 0"),
        ({"title": " "}, "name of the study is empty"),
        ({"key": "no spaces"}, "key is 'no spaces'"),
        ({"expected_s": 86_400, "pay_minor": 100_000}, "less than a day, so split the work"),
    ],
)
def test_a_wrong_order_is_refused_and_nothing_is_made(lab, changes, message) -> None:
    with pytest.raises(InputError, match=message):
        lab.connect().recruit(lab.order(**changes))
    assert lab.world.studies == {}


def test_expire_lets_those_inside_finish_and_stops_when_they_are_done(lab) -> None:
    platform = lab.connect()
    study = platform.recruit(lab.order(places=2)).hit_id
    name = lab.take(study, "ann")
    assert not platform.expire(study).is_open
    assert lab.world.study(study).status == "PAUSED"
    lab.complete(name)
    assert not platform.expire(study).is_open
    assert lab.world.study(study).status == "COMPLETED"


@pytest.mark.parametrize("fault", ["reset_after", "reset_before"])
def test_expire_survives_a_broken_line(lab, fault) -> None:
    platform = lab.connect(broken=True)
    study = platform.recruit(lab.order()).hit_id
    lab.chaos.inject(fault, match=r"POST \S*/transition/")
    try:
        platform.expire(study)
    except PlatformUnavailableError:
        platform.expire(study)
    assert lab.world.study(study).status == "COMPLETED"


CALLS = 9  # of one undisturbed publication: balance, list, estimate, create, list, get, cost, get, publish


def test_an_undisturbed_publication_takes_nine_calls(lab) -> None:
    lab.connect(broken=True).recruit(lab.order())
    assert len(lab.chaos.calls) == CALLS


@pytest.mark.parametrize("fault", ["reset_after", "reset_before", "hang_after"])
@pytest.mark.parametrize("nth", range(1, CALLS + 1))
def test_f9_a_fault_at_any_call_leaves_exactly_one_study(open_lab, nth, fault) -> None:
    lab = open_lab()
    lab.chaos.inject(fault, nth=nth)
    for _ in range(3):
        try:
            lab.connect(broken=True).recruit(lab.order())
            break
        except PlatformUnavailableError:
            continue
    assert [each.status for each in lab.world.studies.values()] == ["ACTIVE"]
    assert lab.chaos.pending == 0
