"""The study as a page in a real browser: every figure there, quiet, accessible, no wider than a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from hmc_crowd.cli import main
from hmc_crowd.judges import example_pairs

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("study")
    pairs, answers = example_pairs()
    wordy = pairs[pairs["model"] == "wordy"].set_index("instruction")["response_a"]
    pairs = pairs.assign(by_model=pairs["response_b"] + " That is all.")
    pairs.to_csv(folder / "pairs.csv", index=False)
    answers.to_csv(folder / "answers.csv", index=False)
    swapped = np.where(pairs["model"] == "wordy", pairs["response_b"], pairs["instruction"].map(wordy))
    pairs.assign(response_b=swapped).to_csv(folder / "other.csv", index=False)
    words = (
        "judges", "compare", f"{folder}/pairs.csv", "--answers", f"{folder}/answers.csv", "--judges",
        "shorter,longer,rouge,rougeL,direct:longer", "--model-column", "model", "--model-reference", "by_model",
        "--other", f"{folder}/other.csv", "--html", f"{folder}/study.html",
    )  # fmt: skip
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 0
    return folder / "study.html"


def violations(page: Any) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [f"{each['id']}: {[node['html'][:200] for node in each['nodes'][:3]]}" for each in found]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_the_page_is_quiet_accessible_and_fits(chromium: Browser, page_path: Path, scheme: Any, width: int) -> None:
    page = chromium.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(page_path.as_uri())
    found = violations(page)
    shown, hidden = ("narrow", "wide") if width < 500 else ("wide", "narrow")
    counts = page.locator(f"svg.{shown}:visible").count(), page.locator(f"svg.{hidden}:visible").count()
    outside = page.eval_on_selector_all(
        f"svg.{shown} text",
        """nodes => nodes.filter(node => {
            const a = node.getBoundingClientRect(), b = node.ownerSVGElement.getBoundingClientRect();
            return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1 || a.bottom > b.bottom + 1;
        }).map(node => node.textContent)""",
    )
    scrolled = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    assert (said, found, outside) == ([], [], [])
    assert scrolled == width
    # Agreement in all and by category, bias, direct, references, five baselines, sizes.
    assert counts == (11, 0)


def test_every_figure_has_its_numbers_beside_it(page_path: Path) -> None:
    tables = {path.stem for path in (page_path.parent / "study_tables").iterdir()}
    assert {"agreement", "manners", "rankings", "references", "baselines", "baseline_rates", "p_values"} <= tables
