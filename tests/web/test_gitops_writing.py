"""Writing back in the browser, with the whole program and real git: edits are commits, a conflict is solved there."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.gitops.conftest import upstream as upstream
from tests.gitops.upstream import Upstream
from tests.peers.needs import AXE, needs
from tests.support.browser import PHONE, AppPage, fresh_page, hear, settled, until
from tests.support.installed import InstalledService
from tests.support.process import ServiceProcess
from tests.web.test_app_looks import check

pytestmark = [pytest.mark.browser, pytest.mark.wall_clock, pytest.mark.thorough]

TEXT = "one\n\ntwo\n\nthree\n"


def start(service: ServiceProcess, upstream: Upstream) -> None:
    service.start(PROVIDERS="fake", SVC_GITOPS_REPO=upstream.url, SVC_GITOPS_POLL="0", SVC_GITOPS_MODE="write-back")


def newest(upstream: Upstream) -> str:
    return upstream.git("log", "-1", "--format=%an <%ae>|%cn|%s", "main").decode().strip()


def write(page: Page, path: str, text: str) -> None:
    page.goto(path)
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Text, in Markdown").fill(text)
    page.get_by_role("button", name="Save", exact=True).click()


@needs(AXE)
def test_an_edit_is_a_commit_by_its_author_and_a_conflict_is_solved_in_the_app(
    browser: Browser, tmp_path: Path, upstream: Upstream
) -> None:
    upstream.push({"pages/plan.md": f"---\ntitle: The plan # kept\n---\n\n{TEXT}", "pages/other.md": "other\n"})
    with InstalledService(tmp_path) as service:
        start(service, upstream)
        with fresh_page(browser, base_url=service.base) as page:
            seat = AppPage(page=page)
            hear(page, seat.problems.append)
            page.goto("/login")
            page.get_by_label("Development login").fill("mia@example.org")
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url("**/p/**")
            write(page, "/p/plan", TEXT.replace("one", "ONE"))
            until(page, lambda: "ONE" in upstream.file("pages/plan.md"), what="the commit")
            assert newest(upstream) == "mia <mia@example.org>|svc|Change plan"
            assert upstream.file("pages/plan.md") == f"---\ntitle: The plan # kept\n---\n\n{TEXT.replace('one', 'ONE')}"

            upstream.push({"pages/plan.md": TEXT.replace("one", "THERE")})
            write(page, "/p/plan", TEXT.replace("one", "HERE"))
            page.get_by_role("button", name="Compare and choose").click()
            expect(page.get_by_role("region", name="In the repository", exact=True)).to_contain_text("THERE")
            check(page, "light-gitops-conflict")
            page.set_viewport_size(PHONE)
            check(page, "phone-gitops-conflict")
            page.goto("/settings/git")
            waiting = page.get_by_role("region", name="Pages that wait for a choice")
            expect(waiting).to_contain_text("in the same lines")
            waiting.get_by_role("link", name="plan").click()
            page.get_by_role("button", name="Compare and choose").click()
            page.get_by_label("Or a text of both").fill(TEXT.replace("one", "HERE and THERE"))
            page.get_by_role("button", name="Keep this text").click()
            expect(page.get_by_text("Here and in the repository it is not the same")).to_have_count(0)
            until(page, lambda: "HERE and THERE" in upstream.file("pages/plan.md"), what="the choice there")
            assert newest(upstream) == "mia <mia@example.org>|svc|Change plan"
            settled(page)
            assert seat.complaints() == []
        assert service.stop() == 0
