"""Two browsers against the whole program: claim, invite, share a page, pair a device, revoke it, sign out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import fresh_page, settled
from tests.support.installed import InstalledService
from tests.support.process import Reply, ServiceProcess

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]

MIA, JONAS = "mia@ternandtide.example", "jonas@elsewhere.example"
SHARED, UNSHARED, HIS = "clients/harbour", "diary", "moorings"


def test_claim_invite_share_pair_revoke_and_sign_out(browser: Browser, tmp_path: Path) -> None:
    with InstalledService(tmp_path) as service:
        service.start(PROVIDERS="fake", SVC_SEED="mock-world")
        with visitor(browser, service) as mia, visitor(browser, service) as jonas:
            thread = claim(mia)
            jonas_reads_nothing(jonas, link=invite(mia), thread=thread)
            share_with_jonas(mia)
            jonas_reads_and_edits(jonas)
            expect(mia.locator(".prose")).to_have_text("The north wall is dry.")  # she did not ask again
            jonas_shares_his_own(jonas)
            mia_may_read_it(mia)
            token = pair(mia, service)
            stolen = session_of(mia)
            revoke(mia, service, token)
            see_both_users(mia)
            sign_out(mia, service, stolen)
        assert service.stop() == 0


def claim(page: Page) -> str:
    """An instance that is open to everybody becomes hers by the first sign-in. Returns the id of a thread of hers."""
    page.goto("/p/mail")
    page.locator("[data-thread]").first.wait_for()
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Sign in and claim it").click()
    page.get_by_role("heading", name="Claim this workspace").wait_for()
    page.get_by_label("Development login").fill(MIA)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/settings")
    expect(page.locator(".who")).to_contain_text(MIA)
    expect(page.locator(".who")).to_contain_text("Admin")
    page.goto("/p/mail")
    thread = page.locator("[data-thread]").first.get_attribute("data-thread")
    assert thread is not None
    assert ask_for(page, thread) == 200
    return thread


def invite(page: Page) -> str:
    page.goto("/settings/users")
    page.get_by_label("Only for this address").fill(JONAS)
    page.get_by_role("button", name="Create invite link").click()
    return page.locator(".copy-line code").inner_text()


def jonas_reads_nothing(page: Page, *, link: str, thread: str) -> None:
    """Without the link he is turned away; with it he is a member, and none of her mail is his."""
    page.goto("/p/mail")
    page.wait_for_url("**/login?next=%2Fp%2Fmail")
    page.get_by_label("Development login").fill(JONAS)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("This server takes members by invitation.")
    page.goto(link)
    page.get_by_role("heading", name="You were invited").wait_for()
    page.get_by_label("Development login").fill(JONAS)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Connect your mail").wait_for()
    settled(page)
    expect(page.locator("[data-thread]")).to_have_count(0)
    assert ask_for(page, thread) == 404
    page.goto("/settings/users")
    page.get_by_text("Only the admins of this workspace see this.").wait_for()
    assert MIA not in page.content()


def share_with_jonas(page: Page) -> None:
    """One page is for him, too; the other is hers alone, as any new page."""
    for path, text in ((UNSHARED, "Nobody’s business."), (SHARED, "The north wall is damp.")):
        write_new(page, path, text)
    share(page, whom=f"jonas ({JONAS})", name="jonas", level="write")


def jonas_reads_and_edits(page: Page) -> None:
    page.goto(f"/p/{SHARED}")
    expect(page.locator(".prose")).to_have_text("The north wall is damp.")
    expect(page.get_by_role("button", name="Share")).to_have_count(0)
    page.get_by_role("button", name="Edit").click()
    write(page, "The north wall is dry.")
    page.goto(f"/p/{UNSHARED}")
    page.get_by_role("heading", name=f"There is no page at {UNSHARED}").wait_for()
    assert ask(page, "pages.get", path=UNSHARED) == ask(page, "pages.get", path="never-written") == 404
    page.goto("/p/")
    page.locator(".tree").get_by_role("link", name="harbour").wait_for()
    settled(page)
    expect(page.get_by_role("link", name=UNSHARED)).to_have_count(0)


def jonas_shares_his_own(page: Page) -> None:
    """The owner of a page may share it with another member, without an admin."""
    write_new(page, HIS, "Berth seven is free.")
    share(page, whom=f"mia ({MIA})", name="mia", level="read")


def mia_may_read_it(page: Page) -> None:
    page.goto(f"/p/{HIS}")
    expect(page.locator(".prose")).to_have_text("Berth seven is free.")
    page.get_by_text("you may read it").wait_for()
    expect(page.get_by_role("button", name="Edit")).to_have_count(0)


def write_new(page: Page, path: str, text: str) -> None:
    page.goto(f"/p/{path}")
    page.get_by_role("button", name="Create this page").click()
    write(page, text)


def write(page: Page, text: str) -> None:
    page.get_by_label("Text, in Markdown").fill(text)
    page.get_by_role("button", name="Save").click()
    expect(page.locator("article .prose")).to_have_text(text)


def share(page: Page, *, whom: str, name: str, level: str) -> None:
    """Share the page that is shown."""
    page.get_by_role("button", name="Share").click()
    page.get_by_label("People of its own").check()
    page.get_by_label("Add a person").select_option(label=whom)
    page.get_by_label(name, exact=True).select_option(level)
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def pair(page: Page, service: ServiceProcess) -> str:
    """A device claims the code over HTTP while the page shows it; the page notices by itself."""
    page.goto("/settings/devices")
    page.get_by_role("button", name="Pair a device").click()
    page.get_by_role("checkbox", name="Get notifications").check()
    page.get_by_role("button", name="Show the code").click()
    code = page.locator(".code").inner_text()
    wanted = {"code": code.lower().replace("-", " "), "name": "Mia’s phone", "kind": "mobile"}
    headers = {"content-type": "application/json"}
    reply = service.request("POST", "/pair/claim", json.dumps(wanted).encode(), headers)
    assert reply.status == 200
    assert reply.json()["capabilities"] == {"mobilePush": True}
    page.get_by_text("Mia’s phone is paired.").wait_for()
    expect(page.locator(".thing", has_text="Mia’s phone")).to_contain_text("may get notifications")
    again = service.request("POST", "/pair/claim", json.dumps(wanted).encode(), headers)
    assert again.status == 403
    token = str(reply.json()["token"])
    assert accounts(service, {"x-svc-device-token": token}).status == 200
    return token


def revoke(page: Page, service: ServiceProcess, token: str) -> None:
    page.get_by_role("button", name="Revoke: Mia’s phone").click()
    page.get_by_role("button", name="Revoke: Mia’s phone").click()
    page.get_by_text("1 revoked device").wait_for()
    assert accounts(service, {"x-svc-device-token": token}).status == 401


def see_both_users(page: Page) -> None:
    page.get_by_role("link", name="Users").click()
    page.get_by_role("button", name="Make admin: jonas").wait_for()
    page.get_by_role("button", name="Make member: mia").click()
    page.get_by_role("button", name="Make me a member: mia").click()
    expect(page.get_by_role("alert")).to_contain_text("The last admin can't be demoted")
    expect(page.get_by_role("region", name="Invites").locator(".thing")).to_contain_text("used")


def sign_out(page: Page, service: ServiceProcess, stolen: dict[str, str]) -> None:
    """The cookie is good for nothing afterwards, Back shows nothing, and the way back in leads where she was."""
    assert accounts(service, stolen).status == 200
    page.goto("/settings/sessions")
    expect(page.locator(".thing").first).to_contain_text("this browser")
    page.get_by_role("button", name="Sign out: this browser").click()
    page.wait_for_url("**/login")
    assert accounts(service, stolen).status == 401
    page.go_back()
    page.wait_for_url("**/login?next=*")
    page.get_by_role("heading", name="Sign in").wait_for()
    assert not any(private in page.content() for private in (MIA, JONAS, "Berth seven"))
    page.goto("/settings/sessions")
    page.wait_for_url("**/login?next=%2Fsettings%2Fsessions")
    page.get_by_label("Development login").fill(MIA)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/settings/sessions")
    expect(page.locator(".setting > .things > .thing")).to_have_count(1)  # revoked ones and the others' are folded away


def session_of(page: Page) -> dict[str, str]:
    (session,) = [one for one in page.context.cookies() if one["name"] == "svc_session"]
    assert session["httpOnly"]
    assert session["sameSite"] == "Lax"
    return {"cookie": f"svc_session={session['value']}"}


def ask_for(page: Page, thread: str) -> int:
    return ask(page, "mail.thread", id=thread)


def ask(page: Page, procedure: str, **wanted: str) -> int:
    """The status of a query with this browser's cookie."""
    return page.request.get(f"/trpc/{procedure}", params={"input": json.dumps(wanted)}).status


def accounts(service: ServiceProcess, headers: dict[str, str]) -> Reply:
    return service.request("GET", "/trpc/mail.accounts", headers=headers)


@contextmanager
def visitor(browser: Browser, service: ServiceProcess) -> Iterator[Page]:
    """A person with their own browser."""
    with fresh_page(browser, base_url=service.base) as page:
        yield page
