"""The message catalogues: same keys and placeholders everywhere, nothing on a page outside a catalogue."""

from __future__ import annotations

import json
import re
from html import unescape
from importlib.resources import files
from pathlib import Path
from string import Formatter

import pytest
from pages_house import SECRET, Plain, dialogue, every_kind, full_study

from hmc_crowd_local.pages import Invites  # isort: skip
from hmc_crowd_local.pages._texts import LANGUAGES, Texts, choose_language  # isort: skip

PAGES = Path(str(files("hmc_crowd_local.pages")))
ENGLISH = json.loads((PAGES / "catalogues" / "en.json").read_text("utf-8"))


def holes(text: str) -> set[str | None]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_catalogue_has_the_same_keys_and_placeholders(language) -> None:
    found = json.loads((PAGES / "catalogues" / f"{language}.json").read_text("utf-8"))
    assert found.keys() == ENGLISH.keys()
    assert {key for key in found if holes(found[key]) != holes(ENGLISH[key])} == set()
    assert [key for key, text in found.items() if not text.strip()] == []


@pytest.mark.parametrize("language", sorted(set(LANGUAGES) - {"en"}))
def test_a_catalogue_is_translated(language) -> None:
    found = json.loads((PAGES / "catalogues" / f"{language}.json").read_text("utf-8"))
    same = [key for key, text in found.items() if text == ENGLISH[key]]
    assert set(same) <= {"test"}  # "Test" is German too


def test_every_key_is_used_and_every_used_key_exists() -> None:
    sources = "".join(each.read_text("utf-8") for each in [*PAGES.glob("*.py"), *PAGES.glob("templates/*.html")])
    stems = set(re.findall(r"(?<![a-z.])t\('([a-z_]+)'[,)]", sources))
    assert stems <= ENGLISH.keys()
    prefixes = ("reason_", "state_", "done_", "author_", "own_", "body_", "feedback_", "training", "test", "pair_")
    unused = [key for key in ENGLISH if f"'{key}'" not in sources and f'"{key}"' not in sources]
    assert [key for key in unused if not key.startswith(prefixes)] == []


def shown(html: str) -> list[str]:
    """Every text that a person may read or hear on a page."""
    html = re.sub(r"<(script|style)\b.*?</\1>", "", html, flags=re.DOTALL)
    texts = re.findall(r">([^<>]+)<", html)
    texts += re.findall(r'(?:aria-label|data-saving|data-saved|data-unsaved|data-offline|title|alt)="([^"]*)"', html)
    return [unescape(each).strip() for each in texts if each.strip()]


def test_the_pseudo_locale_finds_no_text_outside_a_catalogue(new_house, clock) -> None:
    study = full_study(check_tries=3, test_attempts=2, test_delay_s=60.0)
    house = new_house(study=study)
    hit = every_kind()
    own = str([study, hit, dialogue()])
    _, link = house.work(hit)
    remote = house.local.publish(dialogue())
    invite = Invites(house.local, secret=SECRET).issue("ann")
    plain = Plain(house.client())
    pages = []

    def keep() -> None:
        pages.append(plain.text)

    plain.get(f"/work/i/{invite.token}?lang=xx")
    keep()
    plain.get(f"/work/i/{invite.token}/hit/{remote.hit_id}?lang=xx")
    keep()
    plain.get(f"/work/i/{invite.token}/me?lang=xx")
    keep()
    plain.send('name="day"', **{"from": "x"})
    keep()
    plain.get(link + "?lang=xx")
    keep()
    plain.send('name="agree"', agree=["0", "1"], do="agree")
    keep()
    plain.send("What do you judge?", c0="1", c1="1")
    keep()
    plain.send("What do you judge?", c0="0", c1="1")
    plain.send('name="place"', a0="0")
    keep()
    plain.get(link + "?lang=xx")
    for _ in range(2):
        keep()
        plain.send('name="place"', a0="1")
    for address in (link, f"/work/i/{invite.token}"):
        plain.get(address + "?lang=xx")
        assert "UTC" in plain.text  # from when on the test may be taken again
        keep()
    clock.advance(60)
    plain.get(link + "?lang=xx")
    for _ in range(2):
        keep()
        plain.send('name="place"', a0="0")
    for number in range(1, 7):
        plain.get(f"{link}/q/{number}?lang=xx")
        keep()
        plain.send('name="reason"', do="skip")
    for path in ("review", "guide", "ask/1", "preferences", "withdraw", "return"):
        plain.get(f"{link}/{path}?lang=xx")
        keep()
    plain.get(link + "/review?lang=xx")
    plain.send("form")
    keep()
    plain.get(link + "/survey?lang=xx")
    keep()
    plain.get("/work/s/forged?lang=xx")
    keep()
    names = {name for name, _ in LANGUAGES.values()}
    outside = set()
    for page in pages:
        assert 'class="skip"' in page
        for text in shown(page):
            bare = re.sub(r"\[[^\[\]]*\]", "", text).strip(" ·,()–:/")
            is_known = bare in names or bare in own or re.fullmatch(r"[\d.:+ UTCSD-]+|[0-9a-f]{12}", bare)
            if bare and not is_known:
                outside.add(bare)
    assert outside == set()


def test_the_browser_chooses_the_language_and_the_worker_another(house, plain) -> None:
    _, link = house.work(dialogue())
    page = plain.client.get(link + "/q/1", headers={"Accept-Language": "fr, ar-EG;q=0.9, de;q=0.5"})
    assert '<html lang="ar" dir="rtl">' in page.text
    plain.get(link + "/q/1?lang=de")
    assert "Frage 1 von 2" in plain.text
    plain.answer(a0="0", do="next")  # and it stays
    assert "Frage 2 von 2" in plain.text


@pytest.mark.parametrize("header", ["", ";;;", "q=1", "de;q=x, es", "*" * 5000, "\x7f"])
def test_a_strange_header_is_no_harm(header) -> None:
    assert choose_language(None, header, "en") in {"en", "es"}


def test_arabic_is_written_from_the_right() -> None:
    assert Texts("ar").direction == "rtl"
