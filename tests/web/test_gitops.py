"""A followed repository in the browser, with the whole program and real git: what is pushed appears in an open page."""

from __future__ import annotations

import hashlib
import hmac
from http.client import HTTPConnection
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.gitops.conftest import upstream as upstream
from tests.gitops.upstream import Upstream
from tests.support.browser import AppPage, fresh_page, hear
from tests.support.installed import InstalledService
from tests.support.process import HTTP_DEADLINE_S, ServiceProcess

pytestmark = [pytest.mark.browser, pytest.mark.wall_clock, pytest.mark.thorough]

SECRET = "a secret of the forge"
PUSH = b'{"ref": "refs/heads/main"}'


def webhook(service: ServiceProcess) -> int:
    """What a forge says after a push."""
    signature = hmac.new(SECRET.encode(), PUSH, hashlib.sha256).hexdigest()
    connection = HTTPConnection("127.0.0.1", service.port, timeout=HTTP_DEADLINE_S)
    try:
        connection.request("POST", "/gitops/webhook", PUSH, {"x-hub-signature-256": f"sha256={signature}"})
        return connection.getresponse().status
    finally:
        connection.close()


def test_a_push_appears_in_an_open_browser_at_once_and_within_the_poll(
    browser: Browser, tmp_path: Path, upstream: Upstream
) -> None:
    upstream.push({"pages/plan.md": "---\ntitle: The plan\ntags: [tides]\n---\nThe first words.\n"})
    settings = {"PROVIDERS": "fake", "SVC_GITOPS_REPO": upstream.url, "SVC_GITOPS_WEBHOOK_SECRET": SECRET}
    with InstalledService(tmp_path) as service:
        service.start(**settings, SVC_GITOPS_POLL="0")
        with fresh_page(browser, base_url=service.base) as page:
            seat = AppPage(page=page)
            hear(page, seat.problems.append)
            page.goto("/p/plan")
            expect(page.get_by_text("The first words.")).to_be_visible()
            notice = page.get_by_label("Where this page comes from")
            expect(notice).to_contain_text("pages/plan.md in git, changed by Mia")
            expect(notice).to_contain_text("It is changed there, and not here.")
            expect(notice.get_by_text("tides")).to_be_visible()
            expect(page.get_by_role("button", name="Edit")).to_have_count(0)
            seat.settled()

            upstream.push({"pages/plan.md": "Words by webhook.\n"}, author=("Noa", "noa@example.org"))
            assert webhook(service) == 202
            expect(page.get_by_text("Words by webhook.")).to_be_visible()
            expect(notice).to_contain_text("changed by Noa")

            upstream.push({"pages/plan.md": "---\naccess: everybody\n---\nBroken.\n", "pages/more.md": "More.\n"})
            page.goto("/settings/git")
            seat.settled()
            page.get_by_role("button", name="Sync now").click()
            problems = page.get_by_role("region", name="Files with problems")
            expect(problems).to_contain_text("pages/plan.md, line 2")
            expect(problems).to_contain_text("access is inherited or explicit")
            expect(page.get_by_role("region", name="Repository")).to_contain_text("1 added")
            assert seat.complaints() == []
        assert service.stop() == 0

        service.start(**settings, SVC_GITOPS_POLL="1")
        with fresh_page(browser, base_url=service.base) as page:
            page.goto("/p/plan")
            expect(page.get_by_text("Words by webhook.")).to_be_visible()
            upstream.push({"pages/plan.md": "Words by the poll.\n"})
            expect(page.get_by_text("Words by the poll.")).to_be_visible()
        assert service.stop() == 0


def test_without_a_repository_the_settings_say_how_to_follow_one(browser: Browser, tmp_path: Path) -> None:
    with InstalledService(tmp_path) as service:
        service.start(PROVIDERS="fake")
        with fresh_page(browser, base_url=service.base) as page:
            page.goto("/settings/git")
            expect(page.get_by_role("region", name="Repository")).to_contain_text("SVC_GITOPS_REPO")
        assert service.stop() == 0
