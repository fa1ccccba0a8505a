"""A QuestionForm is shown whole or refused: what workers would not see is named when the form is given."""

from __future__ import annotations

import re
import time

import pytest
from hmc_crowd_local.mturk_api._form_check import plain_text
from hmc_crowd_local.mturk_api._problems import TurkError
from mturk_house import NAMESPACES

HIT = {
    "Title": "T", "Description": "D", "Reward": "0.05", "AssignmentDurationInSeconds": 600, "LifetimeInSeconds": 86_400,
}  # fmt: skip
FREE = "<FreeTextAnswer/>"


def form(*, content: str = "<Text>Which?</Text>", answer: str = FREE) -> str:
    return (
        f'<QuestionForm xmlns="{NAMESPACES}2017-11-06/QuestionForm.xsd"><Question>'
        f"<QuestionIdentifier>q</QuestionIdentifier><QuestionContent>{content}</QuestionContent>"
        f"<AnswerSpecification>{answer}</AnswerSpecification></Question></QuestionForm>"
    )


def constrained(inside: str) -> str:
    return form(answer=f"<FreeTextAnswer><Constraints>{inside}</Constraints></FreeTextAnswer>")


PICTURE = "<Binary><MimeType><Type>image</Type></MimeType><DataURL>https://e.org/x.png</DataURL></Binary>"
NOT_SHOWN = {
    "the element Binary in QuestionContent": form(content=PICTURE),
    "the element Application in QuestionContent": form(content="<Application/>"),
    "the element FileUploadAnswer in AnswerSpecification": form(answer="<FileUploadAnswer/>"),
    "the element Binary in Selection": form(
        answer="<SelectionAnswer><Selections><Selection><SelectionIdentifier>a</SelectionIdentifier>"
        f"{PICTURE}</Selection></Selections></SelectionAnswer>"
    ),
    "<img> in FormattedContent": form(content="<FormattedContent><![CDATA[<img src='x'/>]]></FormattedContent>"),
    "the attribute flags of AnswerFormatRegex": constrained('<AnswerFormatRegex regex="a" flags="i"/>'),
    "more than one AnswerFormatRegex": constrained('<AnswerFormatRegex regex="a"/><AnswerFormatRegex regex="b"/>'),
    "IsNumeric beside other Constraints": constrained('<IsNumeric/><Length minLength="1"/>'),
}


@pytest.mark.parametrize("what", NOT_SHOWN)
def test_a_part_that_is_not_shown_is_refused_by_its_name(door, what: str) -> None:
    with pytest.raises(TurkError, match=re.escape(what)):
        door.call("main", "CreateHIT", {**HIT, "Question": NOT_SHOWN[what]})
    test = {"Test": NOT_SHOWN[what], "TestDurationInSeconds": 60}
    with pytest.raises(TurkError, match=re.escape(f"Test holds {what}")):
        door.call(
            "main",
            "CreateQualificationType",
            {"Name": "N", "Description": "D", "QualificationTypeStatus": "Active", **test},
        )


@pytest.mark.parametrize(
    "constraint",
    [
        '<Length minLength="²"/>',
        '<Length maxLength="-1"/>',
        '<IsNumeric minValue="NaN"/>',
        f'<IsNumeric maxValue="{"9" * 99}"/>',
    ],
)
def test_a_constraint_without_a_number_is_refused(door, constraint: str) -> None:
    with pytest.raises(TurkError, match="give a number"):
        door.call("main", "CreateHIT", {**HIT, "Question": constrained(constraint)})


def test_constraints_are_held_by_the_page(house) -> None:
    shown = {
        '<IsNumeric minValue="1" maxValue="7"/>': 'type="number" step="any" min="1" max="7"',
        '<Length minLength="2" maxLength="9"/>': 'minlength="2" maxlength="9"',
        '<AnswerFormatRegex regex="^[a-z]&quot;$" errorText="&lt;No&gt;"/>': (
            r'pattern="[\s\S]*(?:^[a-z]&#34;$)[\s\S]*" title="&lt;No&gt;"'
        ),
    }
    for constraint, attributes in shown.items():
        hit_id = house.hit(Question=constrained(constraint))
        assert attributes in house.page("GET", f"/mturk/content?hitId={hit_id}").text


def test_how_many_may_be_chosen_is_said(house) -> None:
    picks = "".join(
        f"<Selection><SelectionIdentifier>{each}</SelectionIdentifier><Text>{each}</Text></Selection>" for each in "abc"
    )
    counts = "<MinSelectionCount>2</MinSelectionCount><MaxSelectionCount>3</MaxSelectionCount>"
    answer = f"<SelectionAnswer>{counts}<Selections>{picks}</Selections></SelectionAnswer>"
    hit_id = house.hit(Question=form(answer=answer))
    assert "Choose 2 to 3." in house.page("GET", f"/mturk/content?hitId={hit_id}").text


def test_formatted_content_is_read_in_one_pass_however_it_is_written() -> None:
    for unit in ("<", "<a href=", "<!--", "&", "</", "<a href='>", "&lt;<", "< "):
        before = time.process_time()
        plain_text(unit * (65_000 // len(unit)))
        # A pass for every sign would take minutes.
        assert time.process_time() - before < 5
