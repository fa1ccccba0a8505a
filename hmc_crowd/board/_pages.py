"""The pages for the people in charge: campaigns, one campaign, one item, one worker, one submission."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd._base.erasing import ErasesPeople
from hmc_crowd._base.money import parse_money
from hmc_crowd.board._desk import Page
from hmc_crowd.board._hooks import hooks_view
from hmc_crowd.board._views import item_view, live_view, overview, submission_view, worker_view
from hmc_crowd.campaign import Bonus
from hmc_crowd.errors import HmcCrowdError, InputError, StateError
from hmc_crowd.quality import RejectionProposal, RejectionSignal

if TYPE_CHECKING:
    from collections.abc import Callable

    from hmc_crowd.board._desk import Visit
    from hmc_crowd.campaign import Campaign

__all__ = [
    "approve",
    "bonus",
    "campaign",
    "campaigns",
    "end_hook",
    "item",
    "part",
    "reject",
    "send_again",
    "sign_out",
    "submission",
    "webhooks",
    "worker",
]

_FIELDS = (
    "budget",
    "amount",
    "code",
    "reason",
    "message",
    "rule1",
    "rule2",
    "evidence1",
    "evidence2",
    "count1",
    "count2",
)


def campaigns(visit: Visit) -> Page:
    """List the campaigns."""
    with visit.house.store.read() as tx:
        rows = [tx.campaigns.get(name) for name in tx.campaigns.names()]
    return Page("campaigns.html", {"rows": rows})


def campaign(visit: Visit) -> Page:
    """Show one campaign."""
    house, context = visit.house, visit.house.context(visit.values["campaign"])
    return Page("overview.html", _with_threads(visit, overview(context, house.settings.gate, house.alert_log)))


def part(visit: Visit) -> Page:
    """Show what changes on it, alone."""
    house, context = visit.house, visit.house.context(visit.values["campaign"])
    return Page("live.html", _with_threads(visit, live_view(context, house.settings.gate, house.alert_log)))


def _with_threads(visit: Visit, shown: dict[str, Any]) -> dict[str, Any]:
    """Add how many workers wait for a word about an item, or to be erased, where there is a workplace."""
    house = visit.house
    if house.workplace is None:
        return shown
    scope = house.context(visit.values["campaign"]).uid()
    count = house.workplace.waiting_threads(scope)
    row = ("Questions of workers", f"{count:,}", "hmc-crowd invites messages lists them" if count else "")
    asked = len(house.workplace.erasure_requests()) if isinstance(house.workplace, ErasesPeople) else 0
    hint = "hmc-crowd erasure-requests lists them, hmc-crowd forget erases" if asked else ""
    erasing = ("People who asked to be erased", f"{asked:,}", hint)
    return shown | {"queues": [*shown["queues"], row, erasing]}


def item(visit: Visit) -> Page:
    """Explain one item."""
    context = visit.house.context(visit.values["campaign"])
    return Page("item.html", item_view(context, visit.query.get("id", ""), visit.query.get("aspect")))


def worker(visit: Visit) -> Page:
    """Show one worker."""
    return Page("worker.html", worker_view(visit.house.context(visit.values["campaign"]), visit.query.get("id", "")))


def submission(visit: Visit) -> Page:
    """Show one submission, with what may be done about it."""
    return _submission(visit, visit.query)


def webhooks(visit: Visit) -> Page:
    """Show who is told of what happens, and which messages are dead."""
    return Page("webhooks.html", hooks_view(visit.house, visit.values["campaign"]) | {"said": "", "problem": ""})


def send_again(visit: Visit) -> Page:
    """Let a dead message wait again."""
    return _changed_hooks(visit, "send_again", "It is sent again within a minute.")


def end_hook(visit: Visit) -> Page:
    """End a webhook."""
    return _changed_hooks(visit, "end", "The webhook is ended.")


def _changed_hooks(visit: Visit, what: str, said: str) -> Page:
    name, context = visit.form.get("id", ""), visit.house.context(visit.values["campaign"])
    problem = ""
    try:
        with visit.house.store.begin() as tx:
            if what == "end":
                tx.hooks.end(name, campaign=context.campaign_id)
            else:
                tx.hooks.send_again(context.campaign_id, name)
    except StateError as error:
        problem, said = str(error), ""
    shown = hooks_view(visit.house, context.name) | {"said": said, "problem": problem}
    return Page("webhooks.html", shown, 422 if problem else 200)


def sign_out(_visit: Visit) -> Page:
    """Leave; the desk answers this itself."""
    return Page("message.html", {"heading": "Signed out", "text": "You are signed out."})


def approve(visit: Visit) -> Page:
    """Approve and pay, or say what it costs."""

    def act(campaign: Campaign, name: str) -> str:
        platform, pages = visit.house.platform(name)
        done = campaign.approve(
            platform,
            [visit.form.get("id", "")],
            budget_minor=_money(visit, campaign, "budget"),
            dry_run=_is_dry(visit),
            by=visit.by,
            pages=pages,
        )
        return "; ".join((str(done), *done.notes))

    return _acted(visit, act)


def reject(visit: Visit) -> Page:
    """Reject under the rules of fairness, or say what it would do."""

    def act(campaign: Campaign, name: str) -> str:
        given = visit.form.get
        signals = [
            RejectionSignal(given(f"rule{n}", ""), given(f"evidence{n}", ""), _count(given(f"count{n}", "1")))
            for n in (1, 2)
        ]
        proposal = RejectionProposal(given("id", ""), tuple(signals), given("message", ""))
        platform, pages = visit.house.platform(name)
        done = campaign.reject(platform, [proposal], signed_off_by=visit.by, dry_run=_is_dry(visit), pages=pages)
        return "; ".join((str(done), *done.notes))

    return _acted(visit, act)


def bonus(visit: Visit) -> Page:
    """Pay a bonus, or say what it costs."""

    def act(campaign: Campaign, name: str) -> str:
        amount = _money(visit, campaign, "amount")
        if amount is None:
            raise InputError("the amount is empty; give the bonus, for example 1.50")
        paid = Bonus(
            visit.form.get("id", ""),
            amount,
            reason_code=visit.form.get("code", "bonus"),
            reason=visit.form.get("reason", "") or Bonus.reason,
        )
        platform, pages = visit.house.platform(name)
        done = campaign.pay(
            platform,
            [paid],
            budget_minor=_money(visit, campaign, "budget"),
            dry_run=_is_dry(visit),
            by=visit.by,
            pages=pages,
        )
        return "; ".join((str(done), *done.notes))

    return _acted(visit, act)


def _acted(visit: Visit, act: Callable[[Campaign, str], str]) -> Page:
    """Do it, and show the submission again with what came of it, or why not."""
    # Who may see a campaign may act on its own submissions alone: this refuses any other id.
    _submission(visit, visit.form)
    try:
        said = act(visit.house.campaign(visit.values["campaign"]), visit.form.get("platform", ""))
    except HmcCrowdError as error:
        return _submission(visit, visit.form, problem=str(error), status=422)
    return _submission(visit, visit.form, said=said)


def _submission(visit: Visit, which: object, *, said: str = "", problem: str = "", status: int = 200) -> Page:
    given = dict(which) if isinstance(which, dict) else {}
    context = visit.house.context(visit.values["campaign"])
    shown = submission_view(context, given.get("platform", ""), given.get("id", ""))
    kept = {name: visit.form.get(name, "") if problem or said else "" for name in _FIELDS}
    rights = {"review": visit.may("review"), "pay": visit.may("pay")}
    return Page("submission.html", {**shown, "said": said, "problem": problem, "form": kept, "rights": rights}, status)


def _is_dry(visit: Visit) -> bool:
    return visit.form.get("do") != "go"


def _money(visit: Visit, campaign: Campaign, name: str) -> int | None:
    text = visit.form.get(name, "").strip()
    currency = campaign.status().currency
    return parse_money(text, currency=currency, name=name).minor if text else None


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise InputError(f"how often is {text!r}; give a whole number")
    return int(text[:9])
