"""A real server with faults: every pair ends judged or reported, and no answer is paid for twice."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from hmc_crowd.errors import InputError, ModelError, PlatformError
from hmc_crowd.judges import JudgeCache, LLMJudge
from hmc_crowd.judges.endpoint import Endpoint

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RIGHT = ("a", "b", "tie")


def right(many: int) -> list[str]:
    return [RIGHT[row % 3] for row in range(many)]


def judge(chat: Any, **settings: Any) -> LLMJudge:
    of_judge = {name: settings.pop(name) for name in list(settings) if name in {"cache", "swap", "samples", "price_in"}}
    return LLMJudge(Endpoint(chat.url, "tiny", **{"timeout_s": 1.0, "pause_s": 0.02, **settings}), **of_judge)


def test_every_pair_is_judged_whichever_side_is_shown_first(chat: Any, some_pairs: Callable[[int], Any]) -> None:
    judged = judge(chat).judge(some_pairs(30))
    assert judged["label"].tolist() == right(30)
    assert 5 < judged["swapped"].sum() < 25
    # Alternatives A .9 and b .1, scaled to sum to 1 and turned back with the sides.
    assert judged.loc[judged["label"] == "a", "p_a"].round(3).eq(0.9).all()
    assert judged.loc[judged["label"] == "a", "confidence"].round(3).eq(0.9).all()


@pytest.mark.parametrize("fault", [429, 500, 503, "cut", "page", "hang up", "no logprobs"])
def test_passing_faults_cost_time_and_lose_nothing(chat: Any, some_pairs: Callable[[int], Any], fault: Any) -> None:
    chat.faults = lambda call: fault if call % 4 == 0 else None
    judged = judge(chat).judge(some_pairs(24))
    assert judged["label"].tolist() == right(24)


def test_a_slow_answer_is_asked_for_again(chat: Any, some_pairs: Callable[[int], Any]) -> None:
    chat.faults = lambda call: "slow" if call == 2 else None
    assert judge(chat).judge(some_pairs(6))["label"].tolist() == right(6)


def test_what_stays_broken_is_reported_with_the_servers_words(chat: Any, some_pairs: Callable[[int], Any]) -> None:
    chat.faults = lambda _call: 422
    judged = judge(chat).judge(some_pairs(3))
    assert judged["label"].tolist() == [None] * 3
    assert set(judged["reason"]) == {"422 scripted 422"}
    assert sum(chat.questions.values()) == 3


def test_attempts_are_limited(chat: Any, some_pairs: Callable[[int], Any]) -> None:
    chat.faults = lambda _call: 429
    judged = judge(chat, attempts=3).judge(some_pairs(2))
    assert set(judged["reason"]) == {"429 scripted 429"}
    assert sum(chat.questions.values()) == 6


def test_a_wrong_key_ends_the_run_at_once(chat: Any, some_pairs: Callable[[int], Any]) -> None:
    chat.faults = lambda _call: 401
    with pytest.raises(PlatformError, match="401 scripted 401; check the address, the model 'tiny' and the key"):
        judge(chat, concurrency=2).judge(some_pairs(50))
    assert sum(chat.questions.values()) <= 8


def test_a_refused_connection_is_reported(some_pairs: Callable[[int], Any]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    judged = LLMJudge(Endpoint(url, "tiny", attempts=2, pause_s=0.02)).judge(some_pairs(2))
    assert set(judged["reason"]) == {"no answer (ConnectError)"}


def test_answers_that_are_kept_are_not_asked_for_again(
    chat: Any, some_pairs: Callable[[int], Any], tmp_path: Path
) -> None:
    chat.faults = lambda call: 422 if call == 5 else None
    first = judge(chat, cache=tmp_path / "answers.db", concurrency=1).judge(some_pairs(12))
    assert first["label"].isna().sum() == 1
    second = judge(chat, cache=tmp_path / "answers.db").judge(some_pairs(12))
    assert second["label"].tolist() == right(12)
    # The failed one was asked twice, no answer was given twice.
    assert sorted(chat.questions.values()) == [1] * 11 + [2]
    assert max(chat.answered.values()) == 1


def test_the_same_question_is_asked_once(chat: Any) -> None:
    pairs = {"item": ["1", "2"], "instruction": ["x"] * 2, "response_a": ["good"] * 2, "response_b": ["bad"] * 2}
    assert judge(chat, swap="none").judge(pairs)["label"].tolist() == ["a", "a"]
    assert sum(chat.questions.values()) == 1


def test_another_prompt_or_model_is_another_question(
    chat: Any, some_pairs: Callable[[int], Any], tmp_path: Path
) -> None:
    cache = JudgeCache(tmp_path / "answers.db")
    for template in ("a", "d"):
        LLMJudge(Endpoint(chat.url, "tiny"), template, cache=cache).judge(some_pairs(3))
    LLMJudge(Endpoint(chat.url, "other"), "a", cache=cache).judge(some_pairs(3))
    assert len(chat.bodies) == 9


def test_both_orders_and_several_samples(chat: Any, some_pairs: Callable[[int], Any]) -> None:
    chat.gives_logprobs = False
    judged = judge(chat, swap="both", samples=3, price_in=2.0).judge(some_pairs(3))
    assert judged["label"].tolist() == right(3)
    assert judged["consistent"].tolist() == [True] * 3
    assert judged["confidence"].tolist() == [1.0] * 3
    # Six answers a pair, 200 tokens each at 2 a million: 2,400 millionths.
    assert judged["cost_micro"].tolist() == [2400] * 3
    assert {body["temperature"] for body in chat.bodies} == {1.0}


def test_without_log_probabilities_one_answer_has_no_confidence(chat: Any, some_pairs: Callable[[int], Any]) -> None:
    chat.gives_logprobs = False
    judged = judge(chat).judge(some_pairs(3))
    assert judged["label"].tolist() == right(3)
    assert judged["confidence"].isna().all()


def test_a_model_that_changes_while_it_judges_is_refused(
    chat: Any, some_pairs: Callable[[int], Any], tmp_path: Path
) -> None:
    settings = {"cache": tmp_path / "answers.db"}
    judge(chat, **settings).judge(some_pairs(3))
    chat.served = "tiny-2"
    with pytest.raises(ModelError, match=r"come from different models \(tiny-1, tiny-2\)"):
        judge(chat, **settings).judge(some_pairs(6))


def test_the_key_is_sent_and_shown_nowhere(
    chat: Any, some_pairs: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HMC_CROWD_JUDGE_KEY", "sk-secret-1")
    made = judge(chat, cache=tmp_path / "answers.db")
    made.judge(some_pairs(2))
    assert chat.headers[0]["authorization"] == "Bearer sk-secret-1"
    assert b"sk-secret-1" not in (tmp_path / "answers.db").read_bytes()
    assert "sk-secret-1" not in repr(vars(made)) + made.version


def test_the_rate_is_limited(chat: Any, some_pairs: Callable[[int], Any]) -> None:
    started = time.monotonic()
    judge(chat, per_minute=1200.0).judge(some_pairs(9))
    # Nine calls, 50 ms apart: the last begins 400 ms after the first.
    assert time.monotonic() - started >= 0.4


def test_private_pairs_do_not_leave_the_machine(chat: Any, some_pairs: Callable[[int], Any]) -> None:
    pairs = some_pairs(3) | {"audience": ["any", "in_house", "any"]}
    remote = Endpoint(chat.url, "tiny", leaves_machine=True)
    with pytest.raises(InputError, match=r"1 pairs are for in_house only .* nothing was sent"):
        LLMJudge(remote).judge(pairs)
    assert not chat.bodies
    assert LLMJudge(remote, allow_audiences={"in_house"}).judge(pairs)["label"].tolist() == right(3)


@pytest.mark.parametrize("url", ["ftp://x", "nonsense", "http://"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="give an http"):
        Endpoint(url, "m")


def test_a_password_in_the_address_is_refused_without_repeating_it() -> None:
    with pytest.raises(InputError) as met:
        Endpoint("http://me:hunter2@host/v1", "m")
    assert "hunter2" not in str(met.value)


@pytest.mark.parametrize(
    ("url", "leaves"),
    [("http://127.0.0.1:1/v1", False), ("http://localhost/v1", False), ("https://host.test/v1", True)],
)
def test_only_loopback_stays_on_the_machine(url: str, leaves: bool) -> None:
    assert Endpoint(url, "m").leaves_machine is leaves


KILLED = """
import sys
from hmc_crowd.judges import LLMJudge
from hmc_crowd.judges.endpoint import Endpoint
many = int(sys.argv[3])
pairs = {"item": [f"p{r}" for r in range(many)], "instruction": [f"Say something about {r}." for r in range(many)],
         "response_a": ["good"] * many, "response_b": ["bad"] * many}
judged = LLMJudge(Endpoint(sys.argv[1], "tiny", concurrency=4), cache=sys.argv[2]).judge(pairs)
print((judged["label"] == "a").sum())
"""


def test_a_killed_run_goes_on_where_it_was(chat: Any, tmp_path: Path) -> None:
    many, cache = 80, tmp_path / "answers.db"
    command = [sys.executable, "-c", KILLED, chat.url, str(cache), str(many)]
    # Half of the questions take so long that it cannot be done before it is killed, however busy the machine is.
    chat.faults = lambda call: time.sleep(0.02 if call <= 40 else 1.0)
    first = subprocess.Popen(command, stdout=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while sum(chat.answered.values()) < 20 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    assert first.stdout is not None
    first.stdout.close()
    before = sum(chat.answered.values())
    assert 20 <= before < many
    chat.faults = lambda _call: None
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(many)
    # At most those that were under way, and read by nobody, are asked again.
    assert sum(chat.answered.values()) <= many + 2 * 4


def test_answers_under_way_are_kept_when_the_run_ends_in_an_error(
    chat: Any, some_pairs: Callable[[int], Any], tmp_path: Path
) -> None:
    def fault(call: int) -> Any:
        if call == 4:
            return 401
        time.sleep(0.3)
        return None

    chat.faults = fault
    cache = JudgeCache(tmp_path / "answers.db")
    with pytest.raises(PlatformError, match="401"):
        judge(chat, concurrency=4, cache=cache).judge(some_pairs(40))
    answered = sum(chat.answered.values())
    assert 3 <= answered < 40
    chat.faults = lambda _call: None
    assert judge(chat, cache=cache).judge(some_pairs(40))["label"].tolist() == right(40)
    # Nothing that was answered before the error, or while it was on its way, is asked for again.
    assert max(chat.answered.values()) == 1


def test_a_server_that_is_down_is_left_alone(chat: Any, some_pairs: Callable[[int], Any]) -> None:
    chat.faults = lambda _call: 503
    judged = judge(chat, concurrency=2, attempts=1).judge(some_pairs(60))
    assert judged["label"].isna().all()
    assert sum(chat.questions.values()) <= 8
    assert judged["reason"].str.contains("none of the last 4 questions was answered .503 scripted 503").sum() >= 50


def test_a_server_that_refuses_many_questions_is_not_down(chat: Any, some_pairs: Callable[[int], Any]) -> None:
    chat.faults = lambda call: 422 if call <= 20 else None
    judged = judge(chat, concurrency=2).judge(some_pairs(30))
    assert judged["label"].notna().sum() == 10


def test_another_deployment_on_the_same_host_is_another_model() -> None:
    first, second = (Endpoint(f"http://host.test/{each}/v1", "m").version for each in ("x", "y"))
    assert first != second
    assert first == Endpoint("http://host.test/x/v1/", "m").version


@pytest.mark.parametrize("fault", ["slow answers", "a long pause"])
def test_an_interrupted_command_leaves_at_once_and_goes_on_later(
    chat: Any, some_pairs: Callable[[int], Any], tmp_path: Path, fault: str
) -> None:
    import pandas as pd

    pd.DataFrame(some_pairs(40)).to_csv(tmp_path / "pairs.csv", index=False)
    command = [
        sys.executable, "-c", "from hmc_crowd.cli import main; main()", "judges", "run", str(tmp_path / "pairs.csv"),
        "--judge", "llm", "--endpoint", chat.url, "--model", "tiny", "--cache", str(tmp_path / "answers.db"), "--out",
        str(tmp_path / "judged.csv"),
    ]  # fmt: skip
    if fault == "a long pause":
        chat.pause_s = "120"
        chat.faults = lambda call: 429 if call > 10 else None
    else:
        chat.faults = lambda call: time.sleep(0.02 if call < 10 else 0.6)
    first = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while sum(chat.questions.values()) < 12 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(first.pid, signal.SIGINT)
    _, told = first.communicate(timeout=30)
    assert first.returncode == 130
    assert "interrupted; nothing is half done" in told
    assert not (tmp_path / "judged.csv").exists()
    before = sum(chat.answered.values())
    chat.faults = lambda _call: None
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "40 pairs, a 14, b 13, tie 13, unparsed 0" in " ".join(done.stdout.split())
    # What was under way came back and was kept: no answer was paid for twice.
    assert before >= 9
    assert sum(chat.answered.values()) == 40


@pytest.mark.parametrize("name", ["there.csv", "judged.pdf", "no/folder.csv"])
def test_a_file_that_cannot_be_written_is_told_before_anything_is_paid_for(
    chat: Any, some_pairs: Callable[[int], Any], tmp_path: Path, name: str
) -> None:
    import pandas as pd

    from hmc_crowd.cli import main

    pd.DataFrame(some_pairs(3)).to_csv(tmp_path / "pairs.csv", index=False)
    (tmp_path / "there.csv").write_text("mine")
    words = ["--judge", "llm", "--endpoint", chat.url, "--model", "tiny", "--out", str(tmp_path / name)]
    with pytest.raises(SystemExit) as left:
        main(["judges", "run", str(tmp_path / "pairs.csv"), *words])
    assert left.value.code == 2
    assert not chat.bodies
    assert (tmp_path / "there.csv").read_text() == "mine"


@pytest.mark.parametrize("name", ["judged.csv", "judged.jsonl", "judged.parquet"])
def test_judgements_of_every_shape_can_be_written_and_read_again(
    chat: Any, some_pairs: Callable[[int], Any], tmp_path: Path, name: str
) -> None:
    from hmc_crowd.cli._judges_work import judgements_of
    from hmc_crowd.io import write_frame

    chat.faults = lambda call: 422 if call in {2, 5} else None
    chat.says_first_at = 3  # both orders of some pairs contradict each other
    for swap in ("both", "random"):
        judged = judge(chat, swap=swap).judge(some_pairs(12) | {"response_b": ["good"] * 12})
        write_frame(judged, tmp_path / name, overwrite=True)
        again = judgements_of(tmp_path / name)
        assert again["label"].fillna("").tolist() == judged["label"].fillna("").tolist()
        assert again["cost_micro"].tolist() == judged["cost_micro"].tolist()
        assert again["confidence"].fillna(-1).round(9).tolist() == judged["confidence"].fillna(-1).round(9).tolist()
        assert [each for each in again["consistent"] if each is not None] == judged["consistent"].dropna().tolist()


def test_a_person_who_waits_sees_a_bar(chat: Any, some_pairs: Callable[[int], Any], tmp_path: Path) -> None:
    import pty

    import pandas as pd

    pd.DataFrame(some_pairs(30)).to_csv(tmp_path / "pairs.csv", index=False)
    chat.faults = lambda _call: time.sleep(0.3)
    ours, theirs = pty.openpty()
    command = [
        sys.executable, "-c", "from hmc_crowd.cli import main; main()", "judges", "run", str(tmp_path / "pairs.csv"),
        "--judge", "llm", "--endpoint", chat.url, "--model", "tiny",
    ]  # fmt: skip
    known = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=known)
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert process.wait() == 0
    assert b"judging" in shown
    assert b"/30" in shown
