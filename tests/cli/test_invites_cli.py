"""`hmc-crowd invites`: a link is issued, listed, opens the pages, and is taken back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hmc_crowd.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--json"])
    shown = capsys.readouterr().out
    return int(ended.value.code or 0), json.loads(shown) if shown.strip() else None


def test_an_invitation_opens_the_pages_until_it_is_taken_back(tmp_path, capsys) -> None:
    from hmc_crowd_local import connect
    from hmc_crowd_local.pages import PagesSettings, make_pages_app
    from starlette.testclient import TestClient

    place = ("--workplace", str(tmp_path / "w.db"))
    url = ("--public-url", "https://work.example.org/")
    code, issued = run(capsys, "invites", "issue", "ann", "--label", "Ann Example", *url, *place)
    assert code == 0
    assert issued["link"].startswith("https://work.example.org/work/i/")
    _, listed = run(capsys, "invites", "list", *url, *place)
    assert [(each["worker"], each["label"], each["link"]) for each in listed] == [
        ("ann", "Ann Example", issued["link"])
    ]
    with connect(str(tmp_path / "w.db")) as local:
        client = TestClient(make_pages_app(local, secret=local.secret("pages"), settings=PagesSettings()))
        path = issued["link"].removeprefix("https://work.example.org/work")
        assert client.get(path).status_code == 200
        assert run(capsys, "invites", "revoke", issued["invite_id"], *place)[0] == 0
        assert client.get(path).status_code == 404


def test_an_unknown_invitation_is_one_sentence(tmp_path, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["invites", "revoke", "nobody", "--workplace", str(tmp_path / "w.db")])
    assert ended.value.code == 2
    assert "invitation 'nobody' is unknown here" in capsys.readouterr().err


def test_a_link_works_for_some_time(tmp_path, capsys) -> None:
    for days in ("-3", "0", "inf", "nan", "1e+09"):
        with pytest.raises(SystemExit) as ended:
            main(["invites", "issue", "ann", f"--days={days}", "--workplace", str(tmp_path / "w.db")])
        assert ended.value.code == 2
        assert f"--days is {days}; give a number above 0" in capsys.readouterr().err


def test_a_question_is_listed_and_answered(tmp_path, capsys) -> None:
    from hmc_crowd_local import connect

    from hmc_crowd.platform import Hit, HitItem

    place = ("--workplace", str(tmp_path / "w.db"))
    question = HitItem("i1", "label", "g", 1, "Hello.", labels=("fine", "rude"))
    with connect(str(tmp_path / "w.db")) as local:
        made = local.publish(Hit("k", "Judge", "", (question,), 1, 5, "USD"))
        name = local.accept(made.hit_id, "ann").submission_id
        local.threads().ask(name, "i1", "Is irony rude?", at=local.submission(name).accepted_at)
    _, (listed,) = run(capsys, "invites", "messages", *place)
    assert (listed["submission_id"], listed["text"]) == (name, "Is irony rude?")
    assert run(capsys, "invites", "reply", name, "i1", "Only when it hurts.", *place)[0] == 0
    assert run(capsys, "invites", "messages", *place)[1] == []
    with connect(str(tmp_path / "w.db")) as local:
        assert [each.author for each in local.threads().of(name, "i1")] == ["worker", "owner"]
    assert run(capsys, "invites", "reply", name, "i2", "What?", *place)[0] == 2


def test_links_lead_to_where_the_pages_were_served_last(tmp_path, capsys) -> None:
    from hmc_crowd_local import connect

    place = ("--workplace", str(tmp_path / "w.db"))
    _, unserved = run(capsys, "invites", "issue", "ann", *place)
    assert unserved["link"].startswith("http://127.0.0.1:8000/work/i/")
    with connect(str(tmp_path / "w.db")) as local:
        local.serve_at("http://127.0.0.1:8766")
    _, issued = run(capsys, "invites", "issue", "bob", *place)
    assert issued["link"].startswith("http://127.0.0.1:8766/work/i/")
    _, listed = run(capsys, "invites", "list", *place)
    assert {each["link"].split("/work/")[0] for each in listed} == {"http://127.0.0.1:8766"}
    _, key = run(capsys, "keys", "worker", "AANN", *place)
    assert key["link"].startswith("http://127.0.0.1:8766/mturk/")


def test_where_nobody_has_served_yet_it_is_said(tmp_path, capsys) -> None:
    with pytest.raises(SystemExit):
        main(["invites", "issue", "ann", "--workplace", str(tmp_path / "w.db")])
    shown = capsys.readouterr()
    assert "--public-url" in shown.out + shown.err
