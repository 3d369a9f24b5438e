"""An agent in the browser, with the whole program: begun on a thread, its mail let through, and everything killed
in between."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import until
from tests.web.mail_rules.page_with_service import app_page, seeded_service

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]


def test_an_agent_is_begun_on_a_thread_killed_and_sends_once_what_was_let_through(
    browser: Browser, tmp_path: Path
) -> None:
    with seeded_service(tmp_path) as service:
        account = service.query("mail.accounts")[0]
        thread = service.query("mail.threads", accountId=account["id"], section="inbox")["threads"][0]
        answer = {"to": ["new@example.net"], "subject": "Yes", "text": "I come.", "accountId": account["id"]}
        read = {"name": "mail_read", "input": {"threadId": thread["id"]}}
        replies = [{"toolCalls": [read]}, {"toolCalls": [{"name": "mail_send", "input": answer}]}, {"text": "Sent."}]
        service.mutate("fake.llm.script", replies=replies)
        with app_page(browser, service) as app:
            page = app.go(f"/p/mail/t/{thread['id']}")
            page.keyboard.press("Control+k")
            page.keyboard.type("answer this for me")
            page.locator("#palette-list .chooser-item").filter(has_text="Ask an agent").click()
            card = page.locator(".approval")
            expect(card).to_contain_text("new@example.net")
            expect(card).to_contain_text("you have never written to this address")
            expect(card).to_contain_text("I come.")
            app.picture("agent-asks", dark=True)
        run_id = service.query("approvals.list")[0]["runId"]
        service.kill()
        service.start(PROVIDERS="fake", SVC_SEED="mock-world", SVC_UNDO_SEND_SECONDS="0")
        with app_page(browser, service) as app:
            page = app.go(f"/p/runs/{run_id}")
            page.locator(".approval").get_by_role("button", name="Approve").click()
            expect(page.locator(".run-head .run-state")).to_have_text("Done")
            expect(page.locator(".run-said").last).to_have_text("Sent.")
            sent = {"address": account["address"]}
            until(page, lambda: len(service.query("fake.mail.sent", **sent)) == 1, what="the mail to leave")
            assert len(service.query("fake.llm.calls")) == 3, "no call of the model is made twice"
            app.picture("agent-done")
