"""The page of a mail rule or an agent that holds text of others: shown as it is written until its owner says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.browser import App
from tests.web.fake_runs import moment
from tests.web.fake_server import FakeAnswers

pytestmark = pytest.mark.browser

RULE = "---\nwhen: {from: '*'}\nthen: [archive]\n---\n\nSee <https://evil.example/>.\u202e\U000e0041\U0001d173\x1b"


class HeldRule(FakeAnswers):
    """Mia's page holds text of others until she says that it may act."""

    waits = True

    def rpc_pages_get(self, given: dict[str, Any]) -> Any:
        return {
            "id": "pag_rule",
            "path": given["path"],
            "title": "Theirs",
            "kind": "page",
            "body": RULE,
            "revision": 7,
            "owner": {"id": "usr_mia", "name": "Mia"},
            "access": "inherited",
            "grants": [],
            "canWrite": True,
            "canShare": True,
            "backlinks": [],
            "managed": None,
            "updatedAt": moment(hours=-1),
        }

    def rpc_pages_trust(self, given: dict[str, Any]) -> Any:
        return {"fromOutside": self.waits, "by": "svc" if self.waits else None}

    def rpc_people_filed(self, given: dict[str, Any]) -> Any:
        return []

    def rpc_pages_settrusted(self, given: dict[str, Any]) -> Any:
        self.waits = False
        return {}


def test_a_held_rule_is_shown_as_it_is_written_and_used_once_its_owner_says_so(start: Callable[..., App]) -> None:
    app = start(answers := HeldRule())
    page = app.open("/p/mail-rules/theirs", ready=".from-outside")
    expect(page.get_by_text("it does nothing as a rule")).to_be_visible()
    written = page.get_by_role("region", name="The page as it is written")
    shown = {"\u202e": "\\u202e", "\U000e0041": "\\udb40\\udc41", "\U0001d173": "\\ud834\\udd73", "\x1b": "\\u001b"}
    expect(written).to_have_text(RULE.translate({ord(sign): code for sign, code in shown.items()}))
    expect(page.get_by_role("link", name="https://evil.example/")).to_have_count(0)
    page.get_by_role("button", name="Use it as a rule").click()
    expect(page.get_by_text("It is used as a rule from now on.")).to_be_visible()
    expect(written).to_have_count(0)
    assert app.called("pages.setTrusted") == [{"path": "mail-rules/theirs", "revision": 7}]
    answers.waits = True
    app.open("/p/agents/theirs", ready=".from-outside")
    expect(page.get_by_text("so this agent asks you before it does what could do harm")).to_be_visible()
    expect(written).to_contain_text("\\u202e")
    page.get_by_role("button", name="Trust it").click()
    expect(written).to_have_count(0)
