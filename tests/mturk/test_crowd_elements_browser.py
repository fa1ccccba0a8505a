"""The crowd-* elements and the frame in a real browser: what a worker clicks is what the requester reads."""

from __future__ import annotations

import json

import pytest
from hmc_crowd_mturk import read_answer
from mturk_house import html_question, make_hit

from hmc_crowd.platform import named

pytestmark = pytest.mark.browser

PAGE = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<crowd-form {attributes}>
<crowd-instructions link-text="Help"><p>Read.</p></crowd-instructions>
<crowd-classifier name="tone" categories="['rude', 'fine']" header="Tone?">
<classification-target>Go away.</classification-target><short-instructions>Choose.</short-instructions>
</crowd-classifier>
<crowd-input name="word" label="A word" required></crowd-input>
<crowd-text-area name="why" label="Why" rows="2"></crowd-text-area>
<crowd-checkbox name="sure" value="yes">Sure</crowd-checkbox>
<crowd-slider name="scale" label="How much" min="0" max="10" value="3"></crowd-slider>
<crowd-radio-group><crowd-radio-button name="who" value="a">A</crowd-radio-button>
<crowd-radio-button name="who" value="b">B</crowd-radio-button></crowd-radio-group>
<input type="text" name="plain" value="kept">
<crowd-button form-action="submit">Hand in</crowd-button>
</crowd-form>"""


@pytest.fixture
def page(chromium):
    context = chromium.new_context()
    opened = context.new_page()
    yield opened
    context.close()


def fill(frame) -> None:
    frame.get_by_label("rude").check()
    frame.get_by_label("A word").fill("go <b>")
    frame.get_by_label("Why").fill("tone")
    frame.get_by_label("Sure").check()
    frame.get_by_label("B", exact=True).check()


def answer(house, client, hit_id):
    (row,) = client.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    return dict(read_answer(row["Answer"]).fields)


def test_the_ten_elements_send_one_json_list(house, client, page) -> None:
    hit_id = house.hit(Question=html_question(PAGE.format(attributes="")))
    page.goto(f"{house.url}/mturk/accept?hitId={hit_id}&workerId=A1")
    frame = page.frame_locator("#work")
    frame.get_by_role("button", name="Hand in").click()  # refused: nothing is chosen yet
    fill(frame)
    frame.get_by_role("button", name="Hand in").click()
    frame.get_by_text("Your work is handed in.").wait_for()
    found = json.loads(answer(house, client, hit_id)["taskAnswers"])
    assert found == [
        {
            "tone": {"label": "rude"}, "word": "go <b>", "why": "tone", "sure": {"yes": True}, "scale": 3,
            "who": {"a": False, "b": True}, "plain": "kept",
        }
    ]  # fmt: skip


def test_flattened_answers_are_a_field_each(house, client, page) -> None:
    hit_id = house.hit(Question=html_question(PAGE.format(attributes='answer-format="flatten-objects"')))
    page.goto(f"{house.url}/mturk/accept?hitId={hit_id}&workerId=A1")
    frame = page.frame_locator("#work")
    fill(frame)
    frame.get_by_role("button", name="Hand in").click()
    frame.get_by_text("Your work is handed in.").wait_for()
    found = answer(house, client, hit_id)
    assert (found["tone.label"], found["who.b"], found["sure.yes"], found["word"]) == ("rude", "true", "true", "go <b>")


def test_a_preview_cannot_be_handed_in(house, client, page) -> None:
    hit_id = house.hit(Question=html_question(PAGE.format(attributes="")))
    page.goto(f"{house.url}/mturk/preview?hitId={hit_id}")
    assert page.frame_locator("#work").get_by_role("button", name="Hand in").is_disabled()


def test_a_draft_comes_back_after_a_reload_and_the_adapters_page_works(house, platform, page) -> None:
    from playwright.sync_api import expect

    hit = make_hit(redundancy=1)
    remote = platform.publish(hit)
    page.goto(f"{house.url}/mturk/accept?hitId={remote.hit_id}&workerId=A1")
    frame = page.frame_locator("#work")
    with page.expect_response("**/mturk/draft") as sent:
        frame.get_by_label("no", exact=True).first.check()
    assert sent.value.status == 204
    page.reload()
    expect(frame.get_by_label("no", exact=True).first).to_be_checked()
    frame.get_by_label("yes", exact=True).nth(1).check()
    frame.get_by_role("button", name="Submit").click()
    frame.get_by_text("Your work is handed in.").wait_for()
    (one,) = platform.submissions([remote.hit_id])
    asked = [(each.item, each.aspect) for each in hit.items]
    found = named(platform.answers([one.submission_id])[one.submission_id], asked)
    assert {each.item: each.label for each in found} == {"K1-1": "no", "K1-2": "yes"}
    assert found[1].submitted_at is not None


def test_a_requesters_script_reaches_nothing_of_ours(house, page) -> None:
    script = "<script>try { document.title = parent.document.title } catch (e) { document.title = 'kept out' }"
    script += "; try { localStorage.x = 1 } catch (e) { document.title += ', no storage' }</script>"
    hit_id = house.hit(Question=html_question(f"<p>Hello</p>{script}"))
    page.goto(f"{house.url}/mturk/accept?hitId={hit_id}&workerId=A1")
    page.frame_locator("#work").get_by_text("Hello").wait_for()
    inside = next(each for each in page.frames if "/mturk/content" in each.url)
    assert inside.title() == "kept out, no storage"
