"""Webhook events that name what nobody can read."""

from __future__ import annotations

from datetime import UTC, datetime

from hmc_crowd_prolific import SqliteInbox, WebhookEvent, process_events

NOW = datetime(2026, 1, 5, tzinfo=UTC)


def test_an_event_about_what_cannot_be_read_holds_up_no_other(lab, tmp_path) -> None:
    study = lab.connect().recruit(lab.order()).hit_id
    inbox = SqliteInbox(tmp_path / "inbox.db")
    inbox.add(WebhookEvent("e1", "submission.status.change", "f" * 24), at=NOW)
    inbox.add(WebhookEvent("e2", "study.status.change", study), at=NOW)
    seen: list[str] = []
    assert process_events(inbox, lab.connect().client, lambda _, held: seen.append(held.id)) == 1
    assert seen == [study]
    assert [each.id for each in inbox.pending()] == ["e1"]
    inbox.close()
