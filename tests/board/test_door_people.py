"""Crowd or expert, who of them, in time or not; and how people get the work, and their answers into the campaign."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from board_house import NAME, open_board
from starlette.testclient import TestClient

from hmc_crowd.board import Candidate, Features, RuleEntry, Wanted, best_expert
from hmc_crowd.board._features import complexity_of

if TYPE_CHECKING:
    from pathlib import Path

    from board_house import Board

HARD = "Notwithstanding contradictory interpretations, constitutional guarantees persist."


def hire(board: Board, role: str, **more: Any) -> tuple[str, TestClient]:
    """Issue a key; return its id and a program that holds it."""
    with board.house.store.begin() as tx:
        record, key = tx.keys.issue(role, **more)
    board.house._kept.clear()
    return record.id, TestClient(board.app, headers={"Authorization": f"Bearer {key}"})


def allocate(board: Board, *items: dict[str, Any], key: str = "k1") -> list[dict[str, Any]]:
    doubtful = {"confidence": 0.5, "effort": 0.0, "text": "Is it so?", "risk": "low"}
    body = {"key": key, "items": [doubtful | each for each in items]}
    reply = board.program("owner").post("/api/allocate", json=body)
    assert reply.status_code == 200, reply.text
    found: list[dict[str, Any]] = reply.json()["decisions"]
    return found


def due(board: Board, **ahead: float) -> str:
    return (board.clock.now() + timedelta(**ahead)).isoformat()


def test_a_plain_item_is_queued_before_the_crowd(board: Board) -> None:
    hire(board, "worker")
    found = allocate(board, {"item": "a"})[0]
    assert (found["allocated_to"], found["status"], found["needs_expert"]) == ("crowd", "queued", False)
    assert found["features"] == {
        "text_length": 9, "complexity": 0.0, "risk": "low", "urgency": 3, "worker_quality": 1.0
    }  # fmt: skip


def test_what_the_machine_keeps_is_said_so(board: Board) -> None:
    items = [{"item": f"sure{n}", "confidence": 1.0, "effort": 9.0} for n in range(20)]
    kept = [each for each in allocate(board, *items) if each["destination"] == "machine"]
    assert {(each["allocated_to"], each["status"], each["needs_expert"]) for each in kept} == {
        ("machine", "kept_by_machine", False)
    }


def test_nobody_there_is_an_answer(board: Board) -> None:
    crowd, expert = allocate(board, {"item": "a"}, {"item": "b", "risk": "high"})
    assert (crowd["status"], expert["status"], expert["allocated_to"]) == ("no_worker", "no_worker", "expert")


def test_high_and_unknown_risk_never_stay_with_the_machine(board: Board) -> None:
    name, _ = hire(board, "expert")
    sure = {"confidence": 1.0, "effort": 9.0}
    risks = {"high": "high", "nothing": None, "low": "low", "medium": "medium"}
    items = [sure | {"item": f"{said} {n}", "risk": risk} for said, risk in risks.items() for n in range(20)]
    found = allocate(board, *items)
    by_risk = {said: [each for each in found if each["item"].startswith(said)] for said in risks}
    for said, gate in (("high", "high_risk"), ("nothing", "unknown_risk")):
        assert {each["allocated_to"] for each in by_risk[said]} == {"expert"}
        # People's, not the audit's: a draw that risk decided would not be a random one.
        assert {(each["destination"], each["inclusion_probability"], each["gate"]) for each in by_risk[said]} == {
            ("people", 1.0, gate)
        }
    assert {each["destination"] for each in by_risk["low"] + by_risk["medium"]} == {"machine", "audit"}
    assert by_risk["nothing"][0]["features"]["risk"] is None
    with board.house.store.read() as tx:
        assert tx.queue.loads() == {name: 40}


def test_an_item_whose_sender_names_no_risk_is_an_experts() -> None:
    assert RuleEntry()(Features(10, 0.1, None, 3, 0.9)) == "unknown_risk"
    assert RuleEntry(risk=None)(Features(10, 0.1, None, 3, 0.9)) is None


@pytest.mark.parametrize(
    ("given", "gate"),
    [
        ({"risk": "high"}, "high_risk"),
        ({"risk": None}, "unknown_risk"),
        ({"complexity": 0.9}, "complex"),
        ({"text": HARD}, "complex"),
    ],
)
def test_the_gate_sends_an_item_to_an_expert(board: Board, given: dict[str, Any], gate: str) -> None:
    name, _ = hire(board, "expert")
    found = allocate(board, {"item": "a"} | given)[0]
    assert (found["allocated_to"], found["expert"], found["status"], found["gate"]) == (
        "expert", name, "assigned", gate
    )  # fmt: skip


def test_a_weak_crowd_sends_all_to_experts() -> None:
    assert RuleEntry()(Features(10, 0.1, "low", 3, 0.6)) == "low_quality"
    assert RuleEntry(quality=None)(Features(10, 0.1, "low", 3, 0.6)) is None


def test_complexity_is_not_guessed_for_texts_without_blanks() -> None:
    assert complexity_of("これは空白のない長い文章でありその複雑さは単語の長さからは分からないものである。") is None
    assert complexity_of("") is None


def test_all_experts_are_scored() -> None:
    # law, load 9: .7 * 1 + .3 * (1 - .9) = .73; idle without the skill: .7 * 0 + .3 = .3
    law = Candidate("busy", frozenset({"law"}), 9)
    idle = Candidate("idle", frozenset(), 0)
    assert best_expert(Wanted("i", frozenset({"law"})), [idle, law]) == "busy"
    # Above a load of 10 the term stays 0: .7 against .3.
    assert best_expert(Wanted("i", frozenset({"law"})), [idle, Candidate("busy", frozenset({"law"}), 50)]) == "busy"
    # Equal scores: the smaller load, then the name.
    both = [Candidate("b", frozenset(), 11), Candidate("a", frozenset(), 12), Candidate("c", frozenset(), 11)]
    assert best_expert(Wanted("i"), both) == "b"


def test_a_full_expert_gets_nothing_and_it_is_said(board: Board) -> None:
    name, program = hire(board, "expert", per_hour=2)
    found = allocate(board, *({"item": f"x{n}", "risk": "high"} for n in range(3)))
    assert [(each["expert"], each["status"]) for each in found] == [
        (name, "assigned"), (name, "assigned"), (None, "no_capacity")
    ]  # fmt: skip
    # It waits in the line all the same, and whoever has done his work takes it.
    claimed = program.post("/api/claim", json={"key": "c", "limit": 5}).json()["items"]
    assert [each["item"] for each in claimed] == ["x0", "x1", "x2"]


def test_the_more_urgent_item_gets_the_expert(board: Board) -> None:
    name, _ = hire(board, "expert", per_hour=1)
    items = [{"item": "calm", "urgency": 1}, {"item": "now", "urgency": 5}]
    calm, now = allocate(board, *(each | {"risk": "high"} for each in items))
    assert (calm["expert"], now["expert"]) == (None, name)


def test_a_deadline_that_cannot_be_met_is_said(board: Board) -> None:
    hire(board, "expert", per_hour=1)
    hire(board, "worker", per_hour=2)
    items = [
        {"item": "e1", "risk": "high", "due_at": due(board, minutes=30)},
        {"item": "c1", "due_at": due(board, minutes=61)},  # two answers at two an hour
        {"item": "c2", "due_at": due(board, minutes=90)},  # four answers by then
        {"item": "past", "due_at": due(board, minutes=-1)},
    ]
    found = {each["item"]: each["deadline"] for each in allocate(board, *items[:1], *items[1:3])}
    assert found == {"e1": "cannot_be_met", "c1": "can_be_met", "c2": "cannot_be_met"}
    assert allocate(board, items[3], key="k2")[0]["deadline"] == "cannot_be_met"


def test_without_a_known_capacity_the_deadline_is_not_known(board: Board) -> None:
    hire(board, "worker")
    assert allocate(board, {"item": "a", "due_at": due(board, hours=1)})[0]["deadline"] == "not_known"


def test_another_choice_of_experts_takes_the_place(played: Path, tmp_path: Path) -> None:
    import shutil

    folder = shutil.copytree(played, tmp_path / "board")
    asked: list[Wanted] = []

    def last(wanted: Wanted, candidates: Any) -> str:
        asked.append(wanted)
        return str(max(each.name for each in candidates))

    with open_board(folder, choose=last) as board:
        names = [hire(board, "expert")[0] for _ in range(3)]
        found = allocate(board, {"item": "a", "risk": "high", "skills": ["Law"]})[0]
    assert found["expert"] == max(names)
    assert asked == [Wanted("a", frozenset({"law"}), 3, None)]


@pytest.mark.parametrize("limit", ["", "5", 0, True, [], 1.5])
def test_a_claim_of_no_whole_number_is_refused(board: Board, limit: object) -> None:
    _, worker = hire(board, "worker")
    refused = worker.post("/api/claim", json={"key": "odd", "limit": limit})
    assert refused.status_code == 400
    assert "limit is" in refused.text


def test_claims_are_exclusive_and_end(board: Board) -> None:
    (_, ann), (_, bea), (_, cid) = (hire(board, "worker") for _ in range(3))
    allocate(board, {"item": "a"})
    take = [each.post("/api/claim", json={"key": "c1", "lease_s": 60}).json() for each in (ann, bea, cid)]
    # The campaign asks two people an item; whoever asks again gets the same reply.
    assert [[row["item"] for row in each["items"]] for each in take] == [["a"], ["a"], []]
    assert ann.post("/api/claim", json={"key": "c1", "lease_s": 60}).json() == take[0]
    assert take[0]["aspects"] == [{"aspect": "label", "labels": ["bad", "good"]}]
    board.clock.advance(61)
    assert [row["item"] for row in cid.post("/api/claim", json={"key": "c2"}).json()["items"]] == ["a"]


def test_what_is_given_back_goes_to_others(board: Board) -> None:
    (_, ann), (_, bea) = (hire(board, "expert") for _ in range(2))
    allocate(board, {"item": "a", "risk": "high"})
    holder = next(each for each in (ann, bea) if each.post("/api/claim", json={"key": "c"}).json()["items"])
    other = bea if holder is ann else ann
    assert other.post("/api/give-back", json={"key": "g", "items": ["a"]}).json()["given_back"] == 0
    assert holder.post("/api/give-back", json={"key": "g", "items": ["a"]}).json()["given_back"] == 1
    assert [row["item"] for row in other.post("/api/claim", json={"key": "c2"}).json()["items"]] == ["a"]


def test_the_crowd_neither_sees_nor_answers_what_is_for_experts(board: Board) -> None:
    _, ann = hire(board, "worker")
    allocate(board, {"item": "a", "risk": "high"})
    assert ann.get("/api/queue").json()["items"] == []
    assert ann.post("/api/claim", json={"key": "c"}).json()["items"] == []
    reply = ann.post("/api/answers", json={"key": "a", "answers": [{"item": "a", "label": "good"}]})
    unknown = ann.post("/api/answers", json={"key": "b", "answers": [{"item": "zz", "label": "good"}]})
    assert (reply.status_code, unknown.status_code) == (409, 409)
    assert reply.json()["problem"].replace("'a'", "") == unknown.json()["problem"].replace("'zz'", "")


def test_one_expert_s_answer_is_enough(board: Board) -> None:
    _, ann = hire(board, "expert")
    allocate(board, {"item": "a", "risk": "high"})
    ann.post("/api/claim", json={"key": "c"})
    assert ann.post("/api/answers", json={"key": "a", "answers": [{"item": "a", "label": "good"}]}).json()["new"] == 1
    assert board.program("owner").get("/api/queue").json()["items"] == []


def test_answers_at_the_door_enter_the_campaign(board: Board) -> None:
    campaign = board.house.campaign(NAME)
    before = campaign.status()
    (_, ann), (_, bea) = (hire(board, "worker") for _ in range(2))
    allocate(board, {"item": "new"}, {"item": "i30"})
    for program in (ann, bea):
        program.post("/api/claim", json={"key": "c", "limit": 5})
        board.clock.advance(20)
        rows = [{"item": name, "label": "bad"} for name in ("new", "i30")]
        assert program.post("/api/answers", json={"key": "a", "answers": rows}).json()["new"] == 2
    told = campaign.status()
    assert (told.answers, told.open_places, told.next_step) == (
        before.answers + 4, before.open_places, before.next_step
    )  # fmt: skip
    labels = campaign.aggregate().labels.set_index("item")
    assert labels.loc[["new", "i30"], "label"].tolist() == ["bad", "bad"]
    assert set(campaign.explain("i30").answers["platform"]) >= {"door"}
    with board.house.store.read() as tx:
        answers = tx.work.answers(1)
    # Both items were claimed at the same moment, 20 seconds before the answers.
    assert set(answers.loc[answers["platform"] == "door", "seconds"]) == {20.0}


def test_who_has_not_claimed_an_item_does_not_answer_it(board: Board) -> None:
    (_, ann), (_, bea), (_, eve) = hire(board, "worker"), hire(board, "worker"), hire(board, "expert")
    allocate(board, {"item": "a"}, {"item": "b"})
    body = {"key": "a", "answers": [{"item": "a", "label": "good"}]}
    for program in (ann, bea, eve):
        refused = program.post("/api/answers", json=body)
        assert refused.status_code == 409
        assert "item 'a' is not in your hands; claim it first (POST /claim)" in refused.json()["problem"]
    ann.post("/api/claim", json={"key": "c", "limit": 1, "lease_s": 60})
    both = [{"item": "a", "label": "good"}, {"item": "b", "label": "good"}]
    assert "'b'" in ann.post("/api/answers", json={"key": "b", "answers": both}).json()["problem"]
    # Late, but nobody else has it: heard. Given back: not theirs any more.
    board.clock.advance(120)
    assert ann.post("/api/answers", json=body).json()["new"] == 1
    bea.post("/api/claim", json={"key": "c", "limit": 1})
    bea.post("/api/give-back", json={"key": "g", "items": ["a"]})
    assert bea.post("/api/answers", json=body | {"key": "d"}).status_code == 409


def test_what_somebody_else_has_taken_since_is_not_answered(board: Board) -> None:
    people = [hire(board, "worker")[1] for _ in range(3)]
    allocate(board, {"item": "a"})
    for program in people[:2]:
        program.post("/api/claim", json={"key": "c", "lease_s": 60})
    board.clock.advance(61)
    assert people[2].post("/api/claim", json={"key": "c"}).json()["items"]
    body = {"key": "a", "answers": [{"item": "a", "label": "good"}]}
    # One of the two places went to the third person; the other late one still has theirs.
    assert sorted(each.post("/api/answers", json=body).status_code for each in people) == [200, 200, 409]


def test_an_answer_is_counted_once_whatever_the_round(board: Board) -> None:
    _, ann = hire(board, "worker")
    allocate(board, {"item": "i30"})
    ann.post("/api/claim", json={"key": "c"})
    body = {"key": "a", "answers": [{"item": "i30", "label": "bad"}]}
    assert ann.post("/api/answers", json=body).json()["new"] == 1
    assert ann.post("/api/answers", json=body | {"key": "b"}).json()["new"] == 0
    assert ann.post("/api/answers", json={"key": "c", "answers": [{"item": "i30", "label": "good"}]}).status_code == 409


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"item": "a", "label": "ugly"}], "labels are"),
        ([{"item": "a", "label": "good", "aspect": "kind"}], "aspect is"),
        ([{"item": "a", "label": "good"}, {"item": "a", "label": "bad"}], "twice"),
    ],
)
def test_wrong_answers_are_refused_whole(board: Board, rows: list[dict[str, Any]], said: str) -> None:
    _, ann = hire(board, "worker")
    allocate(board, {"item": "a"})
    reply = ann.post("/api/answers", json={"key": "a", "answers": rows})
    assert (reply.status_code, said in reply.json()["problem"]) == (409, True)
    with board.house.store.read() as tx:
        assert "door" not in set(tx.work.answers(1)["platform"])
