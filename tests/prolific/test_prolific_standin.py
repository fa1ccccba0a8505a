"""The stand-in keeps its rules S1 to S16, asked over plain HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from hmc_crowd_prolific.standin import make_app, running_standin

from hmc_crowd._base.clock import SystemClock

NEW = {
    "name": "Judge",
    "description": "Read and judge.",
    "external_study_url": "https://crowd.example.org/?p={{%PROLIFIC_PID%}}&s={{%SESSION_ID%}}&t={{%STUDY_ID%}}",
    "prolific_id_option": "url_parameters",
    "total_available_places": 2,
    "estimated_completion_time": 10,
    "reward": 200,
}


class Api:
    """The API as any client sees it."""

    def __init__(self, lab) -> None:
        self.lab = lab
        self._client = httpx.Client(
            base_url=lab.standin.api,
            headers={"Authorization": f"Token {lab.world.token}"},
            trust_env=False,
            verify=False,
        )

    def __call__(self, method: str, path: str, body: Any = None) -> httpx.Response:
        return self._client.request(method, path, json=body)

    def study(self, *, publish: bool = True, **changes: Any) -> str:
        answer = self("POST", "studies/", {**NEW, **changes})
        assert answer.status_code == 201, answer.text
        name: str = answer.json()["id"]
        if publish:
            assert self.move(name, "PUBLISH").status_code == 200
        return name

    def move(self, study: str, action: str, **more: Any) -> httpx.Response:
        return self("POST", f"studies/{study}/transition/", {"action": action, **more})

    def decide(self, submission: str, **body: Any) -> httpx.Response:
        return self("POST", f"submissions/{submission}/transition/", body)

    def status(self, study: str) -> str:
        word: str = self("GET", f"studies/{study}/").json()["status"]
        return word


def test_an_unknown_path_or_method_is_answered_with_the_error_envelope(lab, api) -> None:
    for method, path in (("GET", "nothing/here/"), ("POST", "studies"), ("DELETE", "studies/"), ("GET", "")):
        answer = api(method, path)
        assert answer.status_code in {404, 405}
        error = answer.json()["error"]
        assert (error["status"], bool(error["title"]), bool(error["detail"])) == (answer.status_code, True, True)


@pytest.fixture
def api(lab):
    made = Api(lab)
    yield made
    made._client.close()


def refused(answer: httpx.Response, status: int, text: str) -> bool:
    error = answer.json()["error"]
    return answer.status_code == error["status"] == status and text in str(error["detail"])


def test_s1_create_makes_a_draft_in_the_first_project(lab, api) -> None:
    answer = api("POST", "studies/", NEW)
    row = answer.json()
    assert (answer.status_code, row["status"], row["project"]) == (201, "UNPUBLISHED", next(iter(lab.world.projects)))
    assert len(row["id"]) == 24
    assert int(row["id"], 16)


CODE = {"code": "A", "code_type": "COMPLETED", "actions": []}


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        ([CODE, CODE], "must be unique"),
        ([{**CODE, "actions": [{"action": "AUTOMATICALLY_APPROVE"}, {"action": "MANUALLY_REVIEW"}]}], "not both"),
        ([{**CODE, "code": None}, CODE], "null code"),
        ([{**CODE, "actions": [{"action": "DYNAMIC_PAYMENT"}]}], "actor researcher"),
        ([{**CODE, "actions": [{"action": "REQUEST_RETURN"}]}], "return_reason"),
        ([{**CODE, "actions": [{"action": "ADD_TO_PARTICIPANT_GROUP"}]}], "participant_group"),
        ([{**CODE, "actions": [{"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 200}]}], "below"),
    ],
)
def test_s2_completion_codes_that_are_forbidden_are_refused(api, codes, text) -> None:
    assert refused(api("POST", "studies/", {**NEW, "completion_codes": codes}), 400, text)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"access_details": [{"external_url": "https://x.org", "total_allocation": 2}]}, "exactly one"),
        ({"external_study_url": None}, "exactly one"),
        ({"external_study_url": None, "access_details": [{"external_url": "u", "total_allocation": 3}]}, "sum to 3"),
        ({"maximum_allowed_time": 28}, "at least 29"),
        ({"maximum_allowed_time": 1440}, "under 1440"),
        ({"completion_code": "A"}, "retired"),
        ({"eligibility_requirements": []}, "retired"),
        ({"surprise": 1}, "Extra inputs"),
        ({"total_available_places": 0}, "greater than or equal to 1"),
        ({"project": "nowhere"}, "Unknown project"),
        ({"filters": [{}], "filter_set_id": "f"}, "exclude each other"),
    ],
)
def test_s3_s4_studies_that_are_forbidden_are_refused(api, changes, text) -> None:
    assert refused(api("POST", "studies/", {**NEW, **changes}), 400, text)


def test_s5_publishing_needs_the_balance_and_locks_it(open_lab) -> None:
    # 2 places of 2.00 and 42.8%: 571.2, so 571 cents.
    lab = open_lab(balance_minor=1141, publishing_s=30)
    api = Api(lab)
    first, second = api.study(), api.study(publish=False)
    assert lab.world.available_minor == 570
    assert api.status(first) == "PUBLISHING"
    assert refused(api.move(second, "PUBLISH"), 400, "does not cover 571")
    lab.clock.advance(30)
    assert api.status(first) == "ACTIVE"
    api._client.close()


@pytest.mark.parametrize(
    ("path", "action", "expected"),
    [
        ([], "PUBLISH", "ACTIVE"),
        (["PUBLISH"], "PUBLISH", None),
        (["PUBLISH"], "PAUSE", "PAUSED"),
        (["PUBLISH", "PAUSE"], "START", "ACTIVE"),
        (["PUBLISH", "PAUSE"], "STOP", "COMPLETED"),
        (["PUBLISH"], "STOP", "COMPLETED"),
        (["PUBLISH", "STOP"], "START", None),
        ([], "PAUSE", None),
        ([], "DANCE", None),
        (["SCHEDULE_PUBLISH"], "CANCEL_PUBLISH", "UNPUBLISHED"),
    ],
)
def test_s6_the_table_of_transitions(lab, api, path, action, expected) -> None:
    study = api.study(publish=False)
    for step in path:
        more = {"publish_at": "2026-02-01T00:00:00+00:00"} if step == "SCHEDULE_PUBLISH" else {}
        assert api.move(study, step, **more).status_code == 200
    before = api.status(study)
    answer = api.move(study, action)
    assert answer.status_code == (200 if expected else 400)
    assert api.status(study) == (expected or before)


def test_s6_a_study_that_is_scheduled_opens_by_itself(lab, api) -> None:
    study = api.study(publish=False)
    api.move(study, "SCHEDULE_PUBLISH", publish_at="2026-01-05T10:00:00+00:00")
    assert api.status(study) == "SCHEDULED"
    lab.clock.advance(3600)
    assert api.status(study) == "ACTIVE"


def test_s7_after_publishing_few_fields_change_and_places_only_grow(lab, api) -> None:
    study = api.study()
    assert refused(api("PATCH", f"studies/{study}/", {"reward": 1}), 400, "cannot change after publishing")
    assert refused(api("PATCH", f"studies/{study}/", {"total_available_places": 1}), 400, "only be added")
    assert api("PATCH", f"studies/{study}/", {"total_available_places": 3}).json()["total_available_places"] == 3
    assert api("DELETE", f"studies/{study}/").status_code == 400
    draft = api.study(publish=False)
    assert api("PATCH", f"studies/{draft}/", {"reward": 300}).json()["reward"] == 300
    assert api("DELETE", f"studies/{draft}/").status_code == 204


def test_s7_more_places_open_a_full_study_again(lab, api) -> None:
    study = api.study(total_available_places=1)
    lab.submit(study, "ann")
    assert api.status(study) == "AWAITING REVIEW"
    api("PATCH", f"studies/{study}/", {"total_available_places": 2})
    assert api.status(study) == "ACTIVE"


def test_s8_places_are_held_and_freed(lab, api) -> None:
    study = api.study()
    first = lab.take(study, "ann")
    assert lab.take(study, "ann") == first
    lab.take(study, "bob")
    with pytest.raises(Exception, match="No place is free"):
        lab.take(study, "cyd")
    # The default longest time of 10 minutes is 2 + 20 + 2 sqrt(10) = 28.3, so 29 minutes.
    lab.clock.advance(29 * 60)
    assert api("GET", f"submissions/{first}/").json()["status"] == "TIMED-OUT"
    assert lab.take(study, "cyd")
    with pytest.raises(Exception, match="Not active"):
        lab.complete(first)


def test_s8_at_once_and_per_participant(lab, api) -> None:
    config = {"max_submissions_per_participant": 2, "max_concurrent_submissions": 1}
    study = api.study(total_available_places=5, submissions_config=config)
    name = lab.take(study, "ann")
    with pytest.raises(Exception, match="Too many at once"):
        lab.take(study, "bob")
    lab.complete(name)
    lab.submit(study, "ann")
    with pytest.raises(Exception, match="had this study"):
        lab.take(study, "ann")


def test_s9_decisions_are_taken_once(lab, api) -> None:
    study = api.study()
    ann, bob = lab.submit(study, "ann"), lab.submit(study, "bob")
    for _ in range(2):
        assert api.decide(ann, action="APPROVE").json()["status"] == "APPROVED"
    assert refused(api.decide(bob, action="REJECT", message="x" * 99), 400, "at least 100")
    assert refused(api.decide(bob, action="REJECT", message="x" * 100), 400, "required")
    for _ in range(2):
        answer = api.decide(bob, action="REJECT", message="x" * 100, rejection_category="OTHER")
        assert answer.json()["status"] == "REJECTED"
    assert api.decide(ann, action="REJECT", message="x" * 100, rejection_category="OTHER").status_code == 400
    # 2.00 and 42.8%: once.
    assert lab.world.spent_minor == 286


def test_s10_what_nobody_reviews_is_approved_after_21_days(lab, api) -> None:
    name = lab.submit(api.study(), "ann")
    lab.clock.advance(21 * 86_400 - 1)
    assert api("GET", f"submissions/{name}/").json()["status"] == "AWAITING REVIEW"
    lab.clock.advance(1)
    assert api("GET", f"submissions/{name}/").json()["status"] == "APPROVED"


def test_s11_a_second_pay_pays_again(lab, api) -> None:
    study = api.study()
    name = lab.submit(study, "ann")
    setup = api("POST", "submissions/bonus-payments/", {"study_id": study, "csv_bonuses": "ann,1.50\n"}).json()
    for _ in range(2):
        assert api("POST", f"bulk-bonus-payments/{setup['id']}/pay/").status_code == 202
    assert api("GET", f"submissions/{name}/").json()["bonus_payments"] == []
    lab.clock.advance(60)
    assert api("GET", f"submissions/{name}/").json()["bonus_payments"] == [150, 150]


@pytest.mark.parametrize(
    ("csv", "text"),
    [("eve,1.00\n", "did not take part"), ("ann,one\n", "no amount"), ("ann,0.001\n", "no amount in"), ("\n", "empty")],
)
def test_s11_a_wrong_csv_is_refused_whole(lab, api, csv, text) -> None:
    study = api.study()
    lab.submit(study, "ann")
    assert refused(api("POST", "submissions/bonus-payments/", {"study_id": study, "csv_bonuses": csv}), 400, text)
    assert lab.world.bonuses == {}


@pytest.mark.parametrize(("kind", "lets_in"), [("allowlist", "ann"), ("blocklist", "bob")])
def test_s12_groups_count_as_they_are_now(lab, api, kind, lets_in) -> None:
    group = api("POST", "participant-groups/", {"workspace_id": lab.world.workspace, "name": "g"}).json()["id"]
    filters = [{"filter_id": f"participant_group_{kind}", "selected_values": [group]}]
    study = api.study(filters=filters)
    api("POST", f"participant-groups/{group}/participants/", {"participant_ids": ["ann"]})
    assert lab.take(study, lets_in)
    with pytest.raises(Exception, match="does not pass the filters"):
        lab.take(study, "bob" if lets_in == "ann" else "ann")


def test_s13_list_and_detail_name_fields_differently(lab, api) -> None:
    study = api.study()
    name = lab.submit(study, "ann", code="A")
    (row,) = api("GET", f"submissions/?study={study}").json()["results"]
    detail = api("GET", f"submissions/{name}/").json()
    assert (row["participant_id"], row["study_code"]) == (detail["participant"], detail["entered_code"])
    assert "study_id" not in row


def test_s13_the_default_page_has_twenty_rows_and_a_link(lab, api) -> None:
    study = api.study(total_available_places=21)
    lab.fill(study, 21)
    first = api("GET", f"submissions/?study={study}").json()
    assert (len(first["results"]), first["meta"]["count"]) == (20, 21)
    assert first["_links"]["next"]["href"].startswith("https://api.prolific.com/api/v1/submissions/?study=")


def test_s14_the_secret_is_replaced_and_nothing_goes_out_before_confirmation(lab, api) -> None:
    workspace = {"workspace_id": lab.world.workspace}
    first, second = (api("POST", "hooks/secrets/", workspace).json()["value"] for _ in range(2))
    assert [each["value"] for each in api("GET", "hooks/secrets/").json()["results"]] == [second] != [first]
    body = {**workspace, "event_type": "study.status.change", "target_url": "http://127.0.0.1:1/hook"}
    answer = api("POST", "hooks/subscriptions/", body)
    hook = answer.json()["results"][0]["id"]
    api.study()
    assert lab.world.deliveries == []
    assert api("POST", f"hooks/subscriptions/{hook}/", {"secret": "wrong"}).status_code == 400
    assert api("POST", f"hooks/subscriptions/{hook}/", {"secret": answer.headers["X-Hook-Secret"]}).status_code == 200
    api.study()
    assert len(lab.world.deliveries) > 0


def test_s14_a_dead_target_is_tried_twelve_times_in_a_day_and_switched_off_after_five(lab, api) -> None:
    workspace = {"workspace_id": lab.world.workspace}
    api("POST", "hooks/secrets/", workspace)
    body = {**workspace, "event_type": "submission.status.change", "target_url": "http://127.0.0.1:1/hook"}
    answer = api("POST", "hooks/subscriptions/", body)
    hook = answer.json()["results"][0]["id"]
    api("POST", f"hooks/subscriptions/{hook}/", {"secret": answer.headers["X-Hook-Secret"]})
    study = api.study(total_available_places=9)
    lab.take(study, "ann")
    (delivery,) = lab.world.deliveries
    begun = lab.clock.now()
    while delivery.status == "PENDING":
        lab.clock.advance_to(delivery.due)
        assert lab.standin.deliver() == 1
    assert (lab.clock.now() - begun).total_seconds() == 86_400
    assert (delivery.attempts, delivery.status) == (12, "FAILED")
    lab.take(study, "bob")
    lab.clock.advance(4 * 86_400)
    lab.standin.deliver()
    assert not lab.world.hooks[hook].enabled


def test_s15_errors_come_in_the_envelope(lab, api) -> None:
    assert refused(api("GET", "studies/nothing/"), 404, "was not found")
    bare = httpx.get(f"{lab.standin.api}workspaces/", trust_env=False, verify=False)
    assert refused(bare, 401, "Authentication")
    assert refused(api("POST", "studies/", []), 400, "")
    assert api("POST", "studies").status_code == 404


def test_s16_money_calls_at_the_same_time_get_429(lab, api) -> None:
    name = lab.submit(api.study(), "ann")
    with lab.world.wallet_lock:
        answer = api.decide(name, action="APPROVE")
    assert refused(answer, 429, "wallet is busy")
    assert api.decide(name, action="APPROVE").status_code == 200


def test_the_participants_address_is_filled_in(lab, api) -> None:
    study = api.study()
    found = lab.control(f"participants/ann/take?study={study}")
    assert found["location"] == f"https://crowd.example.org/?p=ann&s={found['id']}&t={study}"


def test_the_control_plane_can_be_left_out() -> None:
    assert not any("_ctl" in getattr(route, "path", "") for route in make_app(control=False).routes)


def test_a_real_clock_does_not_jump() -> None:
    with running_standin(clock=SystemClock()) as standin:
        answer = httpx.post(f"{standin.url}/_ctl/clock/advance", json={"seconds": 5}, trust_env=False, verify=False)
        assert refused(answer, 400, "cannot be moved")


def test_a_code_can_approve_and_move_between_groups(lab, api) -> None:
    group = api("POST", "participant-groups/", {"workspace_id": lab.world.workspace, "name": "g"}).json()["id"]
    actions = [
        {"action": "AUTOMATICALLY_APPROVE"},
        {"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": group},
    ]
    study = api.study(completion_codes=[{**CODE, "actions": actions}])
    name = lab.submit(study, "ann", code="A")
    assert api("GET", f"submissions/{name}/").json()["status"] == "APPROVED"
    assert list(lab.world.groups[group].members) == ["ann"]
