"""How usage is worded: help for whoever asks for nothing, one sentence for whoever asks for what is not there."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["ClickError", "HelpfulGroup", "on_the_command_line", "usage"]

# What the library calls by its Python name, as whoever types commands knows it.
_COMMANDS = {
    "add_items()": "`hmc-crowd items FILE`",
    "add_predictions()": "`hmc-crowd items --predictions FILE`",
    "add_gold()": "`hmc-crowd items --gold FILE`",
    "add_effort()": "`hmc-crowd items --effort FILE`",
    "calibrate()": "`hmc-crowd confidence calibrate`",
    "estimate_effort()": "`hmc-crowd effort estimate`",
    "set_quotas()": "`hmc-crowd quality quotas set`",
    "add_worker_traits()": "`hmc-crowd quality traits`",
    "add_test()": "`hmc-crowd tests add`",
    "add_study_test()": "`hmc-crowd tests add --study FILE`",
    "sync_test()": "`hmc-crowd tests sync`",
    "plan()": "`hmc-crowd plan`",
    "publish()": "`hmc-crowd publish`",
    "publish(most=...)": "`hmc-crowd publish --most N`",
    "publish(..., dry_run=False)": "`hmc-crowd publish --yes --budget AMOUNT`",
    "collect()": "`hmc-crowd collect`",
    "check_gold()": "`hmc-crowd check`",
    "aggregate()": "`hmc-crowd aggregate`",
    "certify()": "`hmc-crowd certify`",
    "approve()": "`hmc-crowd approve`",
    "pay()": "`hmc-crowd pay`",
    "appeal()": "`hmc-crowd experts appeal open`",
    "settle_appeal()": "`hmc-crowd experts appeal settle`",
    "gate()": "`hmc-crowd gate decide`",
    "assign_experts()": "`hmc-crowd gate assign`",
    "draw_expert_audit()": "`hmc-crowd expert-audit`",
    "learn()": "`hmc-crowd learn`",
    "train_effort(...)": "`hmc-crowd effort train`",
    "questions()": "`hmc-crowd status`",
    "status()": "`hmc-crowd status`",
    "status().questions": "`hmc-crowd status`",
    "overwrite=True": "--overwrite",
    "override=True": "--override",
    "content_warning=": "--content-warning",
    "aggregate(blind_only=True)": "`hmc-crowd aggregate --blind-only`",
    "include_stale=True": "--include-stale",
    "pages=": "--pages",
    "repeats='all'": "--repeats all",
    "repeats='latest'": "--repeats latest",
    "method='choose'": "--method choose",
    "labels=[...]": "--labels A,B",
    "human=": "--human",
    "system=": "--system",
    "half_width=": "--within",
    "difference=": "--difference",
}
_OPTIONS = {
    "max_human": "--max-human",
    "max_human_s": "--max-hours",
    "max_money_minor": "--max-money",
    "pay_per_hour_minor": "--pay",
    "pay_per_hour": "--pay",
    "budget_minor": "--budget",
    "signed_off_by": "--signed-off-by",
    "trade_off": "--trade-off",
    "trade_offs": "--trade-offs",
    "max_humans": "--max-humans",
    "gold_share": "--gold-share",
    "gold_limit": "--gold-limit",
    "pass_share": "--pass",
    "false_alarms": "--false-alarms",
    "second_look": "--second-look",
    "over_hours": "--over",
    "expert_cost": "--expert-cost",
    "error_cost": "--error-cost",
    "expert_error": "--expert-error",
    "target_minutes": "--target-minutes",
    "machine_accuracy": "--machine-accuracy",
    "arrivals_per_s": "--arrivals",
    "seconds_per_case": "--seconds",
    "hours_per_day": "--hours-per-day",
    "half_width": "--within",
    "tax_rate": "--vat",
}
_WORDS = {**_COMMANDS, **_OPTIONS}
_WORD = re.compile(
    r"(?<![\w`'\"./-])(" + "|".join(re.escape(word) for word in sorted(_WORDS, key=len, reverse=True)) + r")(?![\w'\"])"
)

# typer brings a click of its own from 0.27 on and used the installed one before: the class is found, not imported.
ClickError: type[Exception] = next(each for each in typer.BadParameter.__mro__ if each.__name__ == "ClickException")


class HelpfulGroup(TyperGroup):
    """Commands that show their help, and leave with 2, when none of them is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Show the help where nothing was asked."""
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help(), nl=False)
            raise typer.Exit(2)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command; where there is none of that name, say which is near."""
        named = args[0] if args else ""
        if named and not named.startswith("-") and named not in self.commands:
            shown = [name for name, command in self.commands.items() if not command.hidden]
            near = get_close_matches(named, shown, n=1, cutoff=0.6)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(shown)}"
            raise typer.BadParameter(f"{named!r} is no command of {ctx.command_path}; {hint}", ctx=ctx)
        return super().resolve_command(ctx, args)


def usage(error: Exception, given: Sequence[str]) -> str:
    """Say in one sentence what was wrong with the words of a command, and where to read more."""
    message: Callable[[], str] = getattr(error, "format_message", lambda: str(error))
    # Whoever names no command of a group gets its help as the message.
    if type(error).__name__ == "NoArgsIsHelpError":
        return "name a command"
    said = message().strip().removeprefix("Invalid value: ").rstrip(".")
    context: Any = getattr(error, "ctx", None)
    for option in getattr(getattr(error, "param", None), "opts", ()):
        # typer's newer sentences leave out what was given.
        if option in given[:-1]:
            value = given[list(given).index(option) + 1]
            said += "" if repr(value) in said else f", not {value!r}"
    where = "" if context is None else f" (see {context.command_path} --help)"
    return f"{said[:1].lower()}{said[1:]}{where}"


def on_the_command_line(message: str) -> str:
    """Put a sentence of the library into the words of the command line; what stands in quotes stays.

    Examples
    --------
    >>> on_the_command_line("campaign 'plan()' has no plan yet; first call plan()")
    "campaign 'plan()' has no plan yet; first call `hmc-crowd plan`"
    """
    return _WORD.sub(lambda match: _WORDS[match[1]], message)
