"""How plugins, their notes and the choice of colours look and read: axe-core, light, dark, phone, screenshots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.support.browser import App
from tests.web.fake_identity import IdentityAnswers, signed_in
from tests.web.refusal import Refusal
from tests.web.test_app_looks import SIZES, check_in_a_light, small_targets

pytestmark = [pytest.mark.browser, pytest.mark.look, pytest.mark.share(2)]

TERN: Final = "svc-plugin-tern-and-tide"
NOTE: Final = {"plugin": TERN, "pluginTitle": "Tern & Tide", "kind": "note", "name": "handbook", "title": "Handbook"}
BRINGS: Final = {
    "pages": [
        {"kind": "note", "name": "handbook", "title": "Studio handbook", "whyNot": None},
        {"kind": "rule", "name": "shops", "title": "Shops", "whyNot": "It waits for a yes"},
    ],
    "mcp": [{"name": "tides", "target": "https://mcp.tides.example/mcp", "whyNot": "It waits for a yes"}],
    "palette": [{"title": "Open the studio handbook"}],
    "themes": [{"name": "harbour", "title": "Harbour"}],
}
RIGHT: Final = {"id": "0" * 64, "words": "Reach https://mcp.tides.example/mcp, as the MCP server tides", "text": None}
RULE: Final = {
    "id": "1" * 64,
    "words": "Sort your mail by the rule “Shops”",
    "text": "---\nwhen: {from: shop.example}\nthen: [archive]\n---\n",
}


def plugin(name: str, **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "version": "1.0.0",
        "wanted": "^1",
        "state": "on",
        "problem": None,
        "brings": {kind: [] for kind in BRINGS},
        "title": name,
        "about": "",
        "rights": [],
        **fields,
    }


@dataclass
class PluginAnswers(IdentityAnswers):
    """Three plugins: one that is well and asks for something, one that is off, one that could not be installed."""

    def rpc_plugins_status(self, given: dict[str, Any]) -> dict[str, Any]:
        problem = "404 Not Found - GET https://registry.example/svc-plugin-gone"
        return {"source": "environment", "registry": "https://registry.example", "busy": False, "problem": problem}

    def rpc_plugins_list(self, given: dict[str, Any]) -> list[dict[str, Any]]:
        rights = [{**one, "agreed": False} for one in (RIGHT, RULE)]
        about = "How a small studio works."
        return [
            plugin("svc-plugin-gone", state="failed", version=None, problem="It is not in this registry"),
            plugin("svc-plugin-notes", state="off", wanted=None),
            plugin(TERN, title="Tern & Tide", about=about, brings=BRINGS, rights=rights),
        ]

    def rpc_plugins_offers(self, given: dict[str, Any]) -> dict[str, Any]:
        theme = {"plugin": TERN, "name": "harbour", "title": "Harbour", "tokens": {"radius": "0.25rem"}}
        return {"palette": [], "themes": [theme], "pages": [NOTE]}

    def rpc_plugins_page(self, given: dict[str, Any]) -> dict[str, Any]:
        return {**NOTE, "body": "Go out when the tide is low.\n\n# Who decides\n\n- both of us\n"}

    def rpc_plugins_agree(self, given: dict[str, Any]) -> dict[str, Any]:
        return {}


WORN: Final = "style => document.documentElement.getAttribute('style') === style"
PLACES: Final = {
    "plugins": ("/settings/plugins", ".plugin-rights"),
    "appearance": ("/settings/appearance", "[role=radiogroup] .fine"),
    "note": (f"/plugins/{TERN}/handbook", ".prose"),
}


def test_what_plugins_show_passes_axe_and_fits(start: Callable[..., App], size: str) -> None:
    answers = PluginAnswers(me=signed_in())
    app = start(answers, **SIZES[size])
    for name, (path, ready) in PLACES.items():
        page = app.open(path, ready=ready)
        if name == "plugins":
            page.get_by_role("button", name="Say yes: Tern & Tide").click()
        check_in_a_light(page, f"{size}-{name}")


def test_what_a_finger_presses_there_is_large_enough(start: Callable[..., App]) -> None:
    app = start(PluginAnswers(me=signed_in()), **SIZES["phone"])
    for path, ready in PLACES.values():
        assert small_targets(app.open(path, ready=ready)) == []


def test_what_is_agreed_to_is_what_was_shown(start: Callable[..., App]) -> None:
    answers = PluginAnswers(me=signed_in())
    app = start(answers)
    page = app.open("/settings/plugins", ready=".plugin-rights")
    expect(page.get_by_role("list", name="What Tern & Tide may do")).to_contain_text("then: [archive]")
    page.get_by_role("button", name="Say yes: Tern & Tide").click()
    page.get_by_role("button", name="Yes: Tern & Tide").click()
    assert app.called("plugins.agree") == [{"name": TERN, "rights": [RIGHT["id"], RULE["id"]]}]


@pytest.mark.parametrize("own", [{"forced_colors": "active"}, {"contrast": "more"}], ids=["forced colours", "contrast"])
def test_a_theme_is_not_shown_over_the_colours_that_a_person_needs(
    start: Callable[..., App], own: dict[str, Any]
) -> None:
    app = start(PluginAnswers(me=signed_in()), alone=True)
    page = app.open("/settings/appearance", ready="[role=radiogroup] .fine")
    page.get_by_role("radio", name="Harbour").check()
    app.until(WORN, "--radius: 0.25rem;")
    page.emulate_media(**own)
    app.until(WORN, "")
    page.emulate_media(forced_colors="none", contrast="no-preference")
    app.until(WORN, "--radius: 0.25rem;")


def test_a_theme_that_is_no_theme_any_more_in_this_browser_is_not_worn(start: Callable[..., App]) -> None:
    """What a browser kept is checked like any untrusted input."""
    app = start(PluginAnswers(me=signed_in()))
    page = app.open("/settings/appearance", ready="[role=radiogroup] .fine")
    page.evaluate(
        """name => localStorage.setItem("svc.pluginTheme", JSON.stringify({ id: `${name}/harbour`, tokens: {
            paper: "url(https://evil.example)", "x;y": "#fff", ink: "#123456" } }))""",
        TERN,
    )
    app.answers.failing["plugins.offers"] = Refusal("INTERNAL_SERVER_ERROR", 500, "not now")
    app.tolerated = ("500",)
    page.reload()
    assert page.evaluate("document.documentElement.getAttribute('style')") == "--ink: #123456;"
    del app.answers.failing["plugins.offers"]
    page.reload()
    app.until("() => document.documentElement.getAttribute('style') === '--radius: 0.25rem;'")
    page.get_by_role("radio", name="svc", exact=True).check()
    app.until("() => !document.documentElement.getAttribute('style')")
    assert page.evaluate("localStorage.getItem('svc.pluginTheme')") is None
