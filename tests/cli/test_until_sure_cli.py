"""Asking until labels are sure, on the command line."""

from __future__ import annotations

from typing import Any

PAY = ("--pay", "12/h")
SURE = ("--redundancy", "2", "--most", "5", "--error", "0.1", "--gold-share", "0.3")


def test_publish_says_what_is_sure_and_what_later_rounds_may_cost(hmc: Any, at: Any) -> None:
    at("planned")
    said = " ".join(hmc("publish", *PAY, *SURE).out.split())
    assert "until sure" in said
    assert "questions are sure (chance of a wrong label at most 10.0%)" in said
    assert "if nothing more becomes sure" in said
    sheet = hmc("publish", *PAY, *SURE, "--json").json["sure"]
    assert (sheet["sure"], sheet["most"]) == (0, 5)
    assert sheet["answers_at_most"] == 3 * sheet["questions"]
    # audited items get all five answers at once, the others two
    assert "until sure" not in hmc("publish", *PAY).out


def test_status_and_certify_tell_of_it_afterwards(hmc: Any, at: Any) -> None:
    at("planned")
    assert hmc("publish", *PAY, *SURE, "--yes", "--budget", "300").code == 0
    assert "until sure" in hmc("status").out
    assert hmc("status", "--json").json["sure"]["most"] == 5
    refused = hmc("certify", "--stopping")
    assert refused.code == 2
    assert "no blind answers" in refused.err


def test_certify_stopping_goes_alone_and_needs_most(hmc: Any, at: Any) -> None:
    at("planned")
    assert "--stopping goes alone" in hmc("certify", "--stopping", "--accuracy").err
    assert hmc("publish", *PAY, "--yes", "--budget", "300").code == 0
    assert "same number of answers" in hmc("certify", "--stopping").err


def test_most_below_the_redundancy_is_refused(hmc: Any, at: Any) -> None:
    at("planned")
    refused = hmc("publish", *PAY, "--redundancy", "3", "--most", "2")
    assert refused.code == 2
    assert "most is 2 and redundancy 3" in refused.err
