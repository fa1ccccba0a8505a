"""What the browser's tests share: sizes, what makes a page sound, and what assistive technology is told of controls."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

DESK, PHONE = {"width": 1280, "height": 900}, {"width": 320, "height": 640}
# 1280 x 1024 at 400 %.
ZOOMED = {"width": 320, "height": 256}
CONTROLS = "a[href], button, input:not([type=hidden]), select, textarea, summary"
ROLES = {
    "a": {"link"},
    "button": {"button"},
    "select": {"combobox", "listbox"},
    "textarea": {"textbox"},
    "summary": {"DisclosureTriangle", "button"},
    "radio": {"radio"},
    "checkbox": {"checkbox"},
    "number": {"spinbutton"},
    "date": {"Date"},
    "time": {"InputTime"},
}
# What a control is by the document, to be compared with what is told.
FACTS = """function () {
  const kind = this.tagName.toLowerCase();
  const box = this.getClientRects();
  return {
    kind: kind === "input" ? this.type : kind,
    html: this.outerHTML.slice(0, 160),
    shown: box.length > 0 && getComputedStyle(this).visibility === "visible",
    checked: ["radio", "checkbox"].includes(this.type) ? this.checked : null,
    disabled: Boolean(this.disabled),
    required: Boolean(this.required),
    expanded: kind === "summary" ? this.parentElement.open : null,
  };
}"""


def is_bad(message: Any) -> bool:
    """A form that is refused with 4xx is no fault of the page."""
    return message.type == "error" and "status of 4" not in message.text


def look(page: Page, name: str) -> None:
    """Keep a picture when somebody wants to look at it."""
    folder = os.environ.get("HMC_CROWD_SHOTS")
    if folder:
        page.screenshot(path=str(Path(folder, f"{name}.png")), full_page=True)


def violations(page: Page, *, without: tuple[str, ...] = ()) -> list[str]:
    """What axe finds, but for these rules."""
    from axe_playwright_python.sync_playwright import Axe

    options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
    found: list[dict[str, Any]] = Axe().run(page, options=options).response["violations"]
    return [
        f"{each['id']}: {[node['html'][:200] for node in each['nodes'][:3]]}"
        for each in found
        if each["id"] not in without
    ]


def controls(page: Page) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Every visible control: what the document says of it, and its node of the accessibility tree."""
    session = page.context.new_cdp_session(page)
    session.send("Accessibility.enable")
    try:
        every = session.send("Runtime.evaluate", {"expression": f"Array.from(document.querySelectorAll('{CONTROLS}'))"})
        listed = session.send("Runtime.getProperties", {"objectId": every["result"]["objectId"], "ownProperties": True})
        found = []
        for each in listed["result"]:
            if not each["name"].isdecimal():
                continue
            name = each["value"]["objectId"]
            asked = {"functionDeclaration": FACTS, "objectId": name, "returnByValue": True}
            facts = session.send("Runtime.callFunctionOn", asked)["result"]["value"]
            if facts["shown"]:
                tree = session.send("Accessibility.getPartialAXTree", {"objectId": name, "fetchRelatives": False})
                found.append((facts, tree["nodes"][0]))
        return found
    finally:
        session.detach()


def untold(page: Page) -> list[str]:
    """What is wrong with roles, names and states of the controls of a page."""
    wrong = []
    for facts, node in controls(page):
        told = {each["name"]: each["value"].get("value") for each in node.get("properties", [])}
        role = node.get("role", {}).get("value")
        name = (node.get("name", {}).get("value") or "").strip()
        faults = [
            ("is ignored", node["ignored"]),
            (f"has the role {role}", role not in ROLES.get(facts["kind"], {"textbox"})),
            ("has no name", not name),
            ("cannot be reached", not told.get("focusable") and not facts["disabled"]),
            ("state of choice", facts["checked"] is not None and told.get("checked") != str(facts["checked"]).lower()),
            ("state of being required", bool(told.get("required")) != facts["required"]),
            ("state of being disabled", bool(told.get("disabled")) != facts["disabled"]),
            ("state of being open", facts["expanded"] is not None and bool(told.get("expanded")) != facts["expanded"]),
        ]
        wrong += [f"{what}: {facts['html']}" for what, is_wrong in faults if is_wrong]
    return wrong


def sound(page: Page, name: str, *, without: tuple[str, ...] = ()) -> None:
    """Nothing is wrong with this page: axe, controls, errors, width; and a picture is kept."""
    for details in page.locator("details").all():
        details.evaluate("node => { node.open = true }")
    look(page, name)
    # No test module, so a failed assertion would not show its values by itself.
    wrong = [*violations(page, without=without), *untold(page), *page.said]  # type: ignore[attr-defined]
    width = page.viewport_size["width"]  # type: ignore[index]
    if page.evaluate("document.documentElement.scrollWidth") > width:
        wrong.append(f"wider than {width} px")
    assert not wrong, f"{name}: {wrong}"


def saved(page: Page) -> None:
    from playwright.sync_api import expect

    expect(page.get_by_role("status")).to_have_text("Saved")


FOCUSED = """() => {
  const now = document.activeElement;
  if (now === document.body) return { text: "", name: "", type: "", checked: false };
  const text = now.labels && now.labels.length ? now.labels[0].innerText : now.innerText || "";
  return { text: text.trim(), name: now.name || "", type: now.type || "", checked: Boolean(now.checked) };
}"""


class Keyboard:
    """Somebody who has nothing but a keyboard."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def reach(self, wanted: str) -> None:
        """Press Tab until something with these words has the focus, and can be seen to have it."""
        for _ in range(120):
            if wanted in self.page.evaluate(FOCUSED)["text"]:
                assert is_marked(self.page), wanted
                return
            self.page.keyboard.press("Tab")
        pytest.fail(f"{wanted!r} cannot be reached by Tab on {self.page.url}")

    def press(self, wanted: str) -> None:
        """Press a button or a link that leads to another page, and wait for it."""
        self.reach(wanted)
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")

    def tick(self, wanted: str) -> None:
        self.reach(wanted)
        self.page.keyboard.press("Space")
        assert self.page.evaluate(FOCUSED)["checked"]

    def choose(self, wanted: str, *, group: str = "") -> None:
        """Choose one of several: Tab to the question, arrows to the answer."""
        scope = self.page.get_by_role("group", name=group) if group else self.page.locator("main")
        name = scope.get_by_label(wanted).first.get_attribute("name")
        for _ in range(120):
            if self.page.evaluate(FOCUSED)["name"] == name:
                break
            self.page.keyboard.press("Tab")
        self.page.keyboard.press("Space")
        for _ in range(12):
            now = self.page.evaluate(FOCUSED)
            if now["checked"] and wanted in now["text"]:
                return
            self.page.keyboard.press("ArrowDown")
        pytest.fail(f"{wanted!r} cannot be chosen by arrows on {self.page.url}")


def is_marked(page: Any) -> bool:
    """Whether the focus can be seen: an outline on the control or on the label behind it."""
    found: bool = page.evaluate(
        """() => {
          const now = document.activeElement;
          const seen = (node) => { const css = getComputedStyle(node);
            return css.outlineStyle !== "none" && parseFloat(css.outlineWidth) >= 2; };
          return seen(now) || Array.from(now.labels || []).some(seen);
        }"""
    )
    return found
