"""The pages around the work that concern the person: consent, check, training, test, survey, withdrawal, opt-outs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd_local.pages._gate import give_all_back, give_back_quietly, next_step
from hmc_crowd_local.pages._people import Step
from hmc_crowd_local.pages._replies import Goto, Page
from hmc_crowd_local.pages._sheets import read_answers, sheet_of
from hmc_crowd_local.pages._visit import RefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hmc_crowd_local.pages._replies import Reply
    from hmc_crowd_local.pages._sheets import Sheet
    from hmc_crowd_local.pages._study import Practice
    from hmc_crowd_local.pages._visit import Visit

__all__ = [
    "answer_check",
    "answer_practice",
    "answer_survey",
    "categories",
    "check",
    "consent",
    "give_consent",
    "practice",
    "practice_page",
    "practice_sheet",
    "preferences",
    "save_preferences",
    "survey",
    "want_to_withdraw",
    "withdraw",
]


def consent(visit: Visit, *, problem: bool = False) -> Reply:
    """Show the information sheet, with the statements to agree to where they are still to be agreed to."""
    study = visit.study
    is_given = visit.house.people.standing(visit.worker, study) == "consents"
    values = {"study": study, "is_given": is_given, "problem": problem, "path": "consent"}
    return Page("consent.html", values, 422 if problem else 200)


def give_consent(visit: Visit) -> Reply:
    """Keep the consent when every statement is ticked; saying no gives the work back."""
    study, house = visit.study, visit.house
    if visit.value("do") == "decline":
        give_back_quietly(visit)
        return Goto("done")
    if len(set(visit.form.get("agree", ())) & {str(i) for i in range(len(study.consent))}) < len(study.consent):
        return consent(visit, problem=True)
    house.people.give_consent(visit.worker, study, language=visit.texts.language, at=house.now())
    return Goto("")


def check(visit: Visit, *, wrong: frozenset[int] = frozenset(), problem: bool = False) -> Reply:
    """Show the comprehension check."""
    if next_step(visit) != "check":
        return Goto("")
    step = visit.house.people.step(visit.worker, visit.study, "checks")
    values = {"study": visit.study, "tries": step.tries, "wrong": wrong, "problem": problem, "path": "check"}
    return Page("check.html", values, 422 if problem or wrong else 200)


def answer_check(visit: Visit) -> Reply:
    """Mark a try; the last wrong one ends the work and frees the place."""
    if next_step(visit) != "check":
        return Goto("")
    study, people = visit.study, visit.house.people
    given = [visit.value(f"c{i}") for i in range(len(study.checks))]
    if not all(given):
        return check(visit, problem=True)
    wrong = frozenset(i for i, each in enumerate(study.checks) if given[i] != str(each.right))
    step = people.step(visit.worker, study, "checks")
    tries = step.tries + 1
    passed = True if not wrong else False if tries >= study.check_tries else None
    score = 1 - len(wrong) / len(study.checks)
    at = visit.house.now()
    people.put_step(visit.worker, study, "checks", Step(tries, passed, score, (*step.detail, given)), at=at)
    if passed is False:
        give_all_back(visit)
    return check(visit, wrong=wrong) if passed is None else Goto("")


def practice(visit: Visit) -> Reply:
    """Show the next question of the training."""
    if next_step(visit) != "training":
        return Goto("")
    step = visit.house.people.step(visit.worker, visit.study, "training")
    return practice_page(visit, "training", len(step.detail))


def practice_page(
    visit: Visit, kind: str, place: int, *, problem: bool = False, token: str = "", **more: object
) -> Page:
    """Return the page of one question of the training or the test; ``token`` tells what its form answers."""
    every: Sequence[Practice] = getattr(visit.study, kind)
    values = {
        "kind": kind,
        "sheet": practice_sheet(visit, every[place], kind),
        "number": place + 1,
        "total": len(every),
        "place": token or place,
        "problem": problem,
        "feedback": None,
        "exam": None,
        "path": kind,
        **more,
    }
    return Page("practice.html", values, 422 if problem else 200)


def practice_sheet(visit: Visit, each: Practice, kind: str, label: str | None = None) -> Sheet:
    """Return a question of the training or the test as the page shows it."""
    given = {} if label is None else {(each.item.item, each.item.aspect): label}
    return sheet_of([each.item], given, seed=f"{visit.worker} {kind}")


def answer_practice(visit: Visit) -> Reply:
    """Keep an answer of the training, and explain."""
    if next_step(visit) != "training":
        return Goto("")
    study, people = visit.study, visit.house.people
    step, every = people.step(visit.worker, study, "training"), study.training
    place = len(step.detail)
    if visit.value("place") != str(place):
        return Goto("training")  # sent twice, or from another tab
    each = every[place]
    label = read_answers(practice_sheet(visit, each, "training"), visit.form).get(each.item.aspect)
    if label is None:
        return practice_page(visit, "training", place, problem=True)
    detail = (*step.detail, label)
    right = sum(given == known.right for given, known in zip(detail, every, strict=False))
    passed = True if len(detail) == len(every) else None
    at = visit.house.now()
    people.put_step(visit.worker, study, "training", Step(1, passed, right / len(detail), detail), at=at)
    feedback = {"is_right": label == each.right, "right": _shown_label(visit, each), "why": each.explanation}
    sheet = practice_sheet(visit, each, "training", label)
    return practice_page(visit, "training", place, sheet=sheet, feedback=feedback)


def _shown_label(visit: Visit, each: Practice) -> list[tuple[str, bool]]:
    """Return the right answer as the page words it: texts, each with whether it is the key of one."""
    (ask,) = practice_sheet(visit, each, "training", each.right).asks
    return [(choice.text, choice.is_key) for choice in ask.choices if choice.is_chosen] or [(each.label, False)]


def survey(visit: Visit) -> Reply:
    """Show the survey; every question may stay open."""
    step = visit.house.people.step(visit.worker, visit.study, "survey")
    if not visit.study.survey or step.passed is not None:
        return Goto("done")
    return Page("survey.html", {"study": visit.study, "path": "survey"})


def answer_survey(visit: Visit) -> Reply:
    """Keep what was answered of the survey."""
    study, people = visit.study, visit.house.people
    if study.survey and people.step(visit.worker, study, "survey").passed is None:
        given = [visit.value(f"s{i}")[:2000] for i in range(len(study.survey))]
        people.put_step(visit.worker, study, "survey", Step(1, True, None, tuple(given)), at=visit.house.now())
    return Goto("done")


def want_to_withdraw(visit: Visit) -> Reply:
    """Ask once more before the worker leaves the study."""
    return Page("withdraw.html", {"study": visit.study, "path": "withdraw"})


def withdraw(visit: Visit) -> Reply:
    """Keep that the worker withdraws, free his place, and say goodbye."""
    house, erase = visit.house, visit.value("erase") == "yes"
    house.people.withdraw(visit.worker, visit.study, wants_erasure=erase, language=visit.texts.language, at=house.now())
    give_all_back(visit)
    raise RefusedError("withdrawn", 200)


def categories(visit: Visit) -> list[str]:
    """Return the categories of disturbing text that this worker may meet, and those he opted out of."""
    known = set(visit.house.people.opted_out(visit.worker))
    if visit.work is not None:
        known |= {each.category for each in visit.work.hit.items if each.category}
    return sorted(known | set(visit.house.works.categories()))


def preferences(visit: Visit, *, saved: bool = False) -> Reply:
    """Show which categories of disturbing text the worker does not want to see."""
    values = {"categories": categories(visit), "chosen": visit.house.people.opted_out(visit.worker), "saved": saved}
    return Page("preferences.html", {**values, "path": "preferences"})


def save_preferences(visit: Visit) -> Reply:
    """Keep the categories that the worker does not want to see."""
    wanted = set(visit.form.get("category", ())) & set(categories(visit))
    visit.house.people.set_opt_outs(visit.worker, wanted, at=visit.house.now())
    return preferences(visit, saved=True)
