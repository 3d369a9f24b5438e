"""The page of all people: found by a word, what of theirs is in the inbox, and a mail to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.browser import PHONE, App, milliseconds
from tests.web import fake_mail
from tests.web.fake_server import FakeAnswers
from tests.web.test_app_looks import check_in_a_light, small_targets

pytestmark = pytest.mark.browser

JONAS = "jonas.feld@example.org"


def person(name: str, address: str, *, page: str | None = None) -> dict[str, Any]:
    filed = {"id": f"pag_{address}", "path": page, "title": name} if page else None
    seen = {"firstSeenAt": fake_mail.at(days=90), "lastSeenAt": fake_mail.at(days=1)}
    return {"address": address, "name": name, "title": name if page else None, "page": filed, "messages": 12, **seen}


class Peopled(FakeAnswers):
    def rpc_people_list(self, given: dict[str, Any]) -> Any:
        people = [
            person("Jonas Feld", JONAS, page="crm/jonas-feld"),
            person("", "x" * 60 + "@a-long-name-of-a-domain.example"),
            *(person(f"Somebody {n}", f"somebody{n}@example.org") for n in range(70)),
        ]
        found = [one for one in people if given.get("text", "").lower() in one["name"].lower()]
        limit = given.get("limit", 50)
        return {"people": found[:limit], "more": len(found) > limit}

    def rpc_people_suggested(self, given: dict[str, Any]) -> Any:
        return {"people": [person("Only Writes", "only@example.org")], "more": False}

    def rpc_mail_search(self, given: dict[str, Any]) -> Any:
        assert given == {"query": f"from:{JONAS} in:inbox", "limit": 5}
        return super().rpc_mail_search({**given, "query": "harbour"})


@pytest.mark.thorough
def test_somebody_is_found_read_and_written_to(start: Callable[..., App]) -> None:
    app = start(Peopled())
    page = app.open("/p/people", ready=".contact")
    expect(page.get_by_role("status").get_by_text("50 or more people")).to_be_visible()
    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_role("status").get_by_text("72 people")).to_be_visible()
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)

    app.press("/")
    page.keyboard.type("jonas")
    expect(page.get_by_role("status").get_by_text("1 person")).to_be_visible()
    page.get_by_role("link", name="Tasks").first.click()
    page.get_by_role("heading", name="Tasks").wait_for()
    page.go_back()
    expect(page.get_by_role("status").get_by_text("1 person")).to_be_visible()
    expect(page.get_by_role("link", name="Jonas Feld", exact=True)).to_have_attribute("href", "/p/crm/jonas-feld")
    inbox = page.get_by_role("button", name="In the inbox, from Jonas Feld")
    inbox.click()
    expect(inbox).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("link", name="Unread, Quote for the harbour mural")).to_be_visible()
    all_mail = page.get_by_role("link", name="All mail from Jonas Feld")
    expect(all_mail).to_have_attribute("href", f"/p/mail/search?q=from%3A{JONAS.replace('@', '%40')}")
    page.get_by_role("button", name="Write to Jonas Feld").click()
    expect(page.get_by_role("dialog", name="New message").get_by_text("Jonas Feld")).to_be_visible()


@pytest.mark.thorough
def test_nobody_is_found_by_what_nobody_is_called(start: Callable[..., App]) -> None:
    app = start(Peopled())
    page = app.open("/p/people", ready=".contact")
    field = page.get_by_role("searchbox", name="Find somebody")
    field.fill("zzz")
    expect(page.get_by_role("status").get_by_text("Nobody has these words.")).to_be_visible()
    field.press("Escape")
    expect(field).to_have_value("")
    expect(page.locator(".contact").first).to_be_visible()
    field.press("Escape")
    expect(field).not_to_be_focused()
    app.at("/p/people")


@pytest.mark.thorough
def test_the_words_are_in_the_address_once_the_field_is_left_and_in_no_place_to_begin_at(
    start: Callable[..., App],
) -> None:
    app = start(Peopled(), alone=True)
    pause = milliseconds("ui/typed_words.js", "PAUSE_MS")
    app.page.add_init_script(
        "{ const later = setTimeout;"
        f"window.setTimeout = (run, ms, ...given) => ms === {pause} ? 1 : later(run, ms, ...given); }}"
    )
    page = app.open("/p/people", ready=".contact")
    app.press("/")
    page.keyboard.type("jonas")
    expect(page.get_by_role("status").get_by_text("1 person")).to_be_visible()
    assert page.evaluate("() => location.search") == ""
    page.get_by_role("link", name="Tasks").first.click()
    page.get_by_role("heading", name="Tasks").wait_for()
    page.go_back()
    expect(page.get_by_role("status").get_by_text("1 person")).to_be_visible()
    assert page.evaluate("() => [location.search, localStorage.getItem('svc.last')]") == ["?q=jonas", "/p/tasks"]


@pytest.mark.look
def test_the_people_look_well_and_pass_axe(start: Callable[..., App]) -> None:
    app = start(Peopled(), viewport=PHONE, has_touch=True, is_mobile=True)
    page = app.open("/p/people", ready=".contact")
    check_in_a_light(page, "people-phone")
    assert small_targets(page) == []
    page.set_viewport_size({"width": 1280, "height": 860})
    check_in_a_light(page, "people")
