"""Who is signed in, and what the settings show of it: users, invites, devices, sessions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import PATIENCE_MS, App, intercept, launch
from tests.web import qr_reader
from tests.web.fake_identity import CODE, JONAS, LINK, OTHER_CODE, IdentityAnswers, device, signed_in
from tests.web.fake_server import MODULES, Refusal, serving
from tests.web.test_identity import SIGN_IN, answers_of

pytestmark = pytest.mark.browser

SIGN_OUT = "Sign out"
SAYS_WHAT_WAS_KEPT = """addEventListener("pageshow", event => {
    if (event.persisted) sessionStorage.setItem("kept", document.body.checkVisibility() ? "shown" : "hidden");
});"""


@pytest.mark.thorough
def test_the_header_leads_to_the_settings_escape_back_and_sign_out_to_the_login_page(start: Callable[..., App]) -> None:
    app = start(IdentityAnswers())
    page = app.open()
    page.get_by_role("link", name="Settings. Signed in as mia@ternandtide.example").click()
    page.get_by_role("heading", name="Profile").wait_for()
    expect(page.locator("main")).to_contain_text("Mia Tern")
    expect(page).to_have_title("Profile – svc")
    app.press("Escape")
    page.locator("[data-thread]").first.wait_for()
    page.get_by_role("link", name="Settings. Signed in as mia@ternandtide.example").click()
    page.get_by_role("button", name=SIGN_OUT).click()
    page.wait_for_url("**/login")
    assert answers_of(app).posts == [("/auth/logout", {})]


def test_signing_out_deletes_what_was_not_saved_and_loads_nothing_for_it(start: Callable[..., App]) -> None:
    app = start(IdentityAnswers())
    app.tolerated = ("net::ERR_FAILED",)
    page = app.open("/settings", ready=".who")
    page.evaluate("localStorage['svc.left.page.one'] = JSON.stringify({ key: 'one', user: 'usr_mia', at: Date.now() })")
    intercept(page, "**/*.js", lambda route: route.abort())
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/login", wait_until="commit")
    assert page.evaluate("Object.keys(localStorage).filter(one => one.startsWith('svc.left.'))") == []


def test_signing_out_deletes_first_what_was_just_discarded(start: Callable[..., App]) -> None:
    class Told(IdentityAnswers):
        def auth(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
            left.append(list(self.drafts))
            return super().auth(path, body)

    left: list[list[str]] = []
    answers = Told()
    answers.add_draft(subject="Tides")
    app = start(answers)
    page = app.open("/p/mail/drafts", ready="[data-draft]")
    page.get_by_role("button", name="Delete the draft: Tides").click()
    page.get_by_text("Draft deleted.").wait_for()
    page.get_by_role("link", name="Settings. Signed in as").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/login")
    assert left == [[]]


@pytest.mark.thorough
def test_signing_out_ends_there_also_if_the_page_hears_of_the_ended_session_first(start: Callable[..., App]) -> None:
    class Slow(IdentityAnswers):
        def auth(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
            answer = super().auth(path, body)
            assert noticed.wait(PATIENCE_MS / 1_000)
            return answer

    noticed = Event()
    app = start(Slow())
    app.tolerated = ("401",)
    page = app.open("/settings/sessions", ready=".thing")
    page.get_by_role("button", name="Sign out: this browser").click()
    page.locator("[aria-busy=true]").first.wait_for()
    with page.expect_response(lambda response: response.status == 401):
        page.evaluate("dispatchEvent(new Event('focus'))")
    page.evaluate(f"import('{MODULES}/session.js').then(session => session.loadMe())")
    noticed.set()
    page.get_by_role("heading", name=SIGN_IN).wait_for()
    app.until("() => location.pathname + location.search === '/login'")


def test_signing_out_of_a_session_that_has_ended_leads_to_the_login_page_too(start: Callable[..., App]) -> None:
    class Ended(IdentityAnswers):
        """The session ends a moment before one signs out of it: sooner, the page would leave by itself."""

        def auth(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
            self.me.update(user=None)
            return super().auth(path, body)

    app = start(Ended(refusing="There is no session to end."))
    app.tolerated = ("403", "401")
    page = app.open("/settings", ready=".who")
    page.get_by_role("button", name=SIGN_OUT).click()
    page.wait_for_url("**/login?next=%2Fsettings")
    expect(page.get_by_text("Your session has ended.")).to_be_visible()


@pytest.mark.thorough
def test_a_page_that_the_browser_kept_shows_nothing_once_the_session_has_ended(browser: Browser) -> None:
    answers = IdentityAnswers()
    with (
        serving(answers) as served,
        launch(browser.browser_type, without=["--disable-back-forward-cache"]) as keeping,
        keeping.new_page(base_url=served.origin) as page,
    ):
        page.set_default_timeout(PATIENCE_MS)
        page.add_init_script(SAYS_WHAT_WAS_KEPT)
        page.goto("/p/mail")
        page.locator("[data-thread]").first.wait_for()
        page.goto("/settings")
        page.locator(".who").first.wait_for()
        answers.me.update(user=None)
        page.go_back(wait_until="commit")
        page.wait_for_url("**/login?next=%2Fp%2Fmail")
        assert page.evaluate("sessionStorage.getItem('kept')") != "shown"


@pytest.mark.thorough
def test_the_last_admin_stays_one_and_where_there_is_another_she_may_step_down(start: Callable[..., App]) -> None:
    app = start(IdentityAnswers())
    app.tolerated = ("409",)
    page = app.open("/settings/users", ready=".thing")
    page.get_by_role("button", name="Make member: Mia Tern").click()
    page.get_by_role("button", name="Make me a member: Mia Tern").click()
    page.get_by_role("alert").get_by_text("The last admin can't be demoted").wait_for()
    page.get_by_role("button", name="Make admin: Jonas Feld").click()
    page.get_by_role("button", name="Make member: Jonas Feld").wait_for()
    page.get_by_role("button", name="Make member: Mia Tern").click()
    page.get_by_role("button", name="Make me a member: Mia Tern").click()
    page.get_by_text("Only the admins of this workspace see this.").wait_for()
    expect(page.get_by_role("link", name="Users")).to_have_count(0)


@pytest.mark.thorough
def test_a_member_asks_for_nothing_that_is_the_admins_and_may_give_a_device_less(start: Callable[..., App]) -> None:
    app = start(IdentityAnswers(me=signed_in(JONAS)))
    page = app.open("/settings/users", ready="h1")
    page.get_by_text("Only the admins of this workspace see this.").wait_for()
    page.get_by_role("link", name="Devices").click()
    page.locator(".thing").first.wait_for()
    assert app.calls("users.list") == app.calls("auth.invites") == []
    page.get_by_role("button", name="Pair a device").click()
    page.get_by_role("checkbox", name="Get notifications").wait_for()
    expect(page.get_by_role("checkbox", name="Use terminals")).to_have_count(0)
    expect(page.get_by_role("checkbox", name="Act as an admin")).to_have_count(0)
    expect(page.get_by_role("checkbox", name="Open a shell")).to_have_count(0)


@pytest.mark.thorough
def test_invites_are_made_shown_once_copied_and_revoked(start: Callable[..., App]) -> None:
    app = start(IdentityAnswers(), permissions=["clipboard-read", "clipboard-write"])
    page = app.open("/settings/users", ready="text=noor@harbour.example")
    # Each tells its state, and only an open one can be revoked.
    rows = page.get_by_role("region", name="Invites").locator(".thing")
    states = [row.inner_text().split() for row in rows.all()]
    assert [sum(word in row for word in ("open", "used", "revoked", "expired")) > 0 for row in states] == [True] * 5
    revoke = page.get_by_role("button", name="Revoke: the invite for noor@harbour.example")
    expect(page.get_by_role("button", name="Revoke")).to_have_count(2)
    revoke.click()
    page.get_by_role("button", name="Cancel").click()
    expect(revoke).to_be_focused()
    page.keyboard.press("Enter")
    revoke.click()
    rows.first.get_by_text("revoked", exact=True).wait_for()
    # One for days that make no sense is not sent.
    days = page.get_by_label("Good for days")
    for nonsense in ("0", "366", "1.5", ""):
        days.fill(nonsense)
        days.blur()
        page.get_by_role("button", name="Create invite link").click()
        app.until("() => document.activeElement.matches(':invalid')")
        expect(days).to_be_focused()
    assert app.calls("auth.createInvite") == []
    # The link can be copied, and is gone with the page.
    page.get_by_label("Only for this address").fill("noor@harbour.example")
    days.fill("3")
    page.get_by_role("button", name="Create invite link").click()
    page.get_by_role("button", name="Copy the invite link").click()
    page.get_by_text("Copied").wait_for()
    app.until("async link => await navigator.clipboard.readText() === link", LINK)
    assert app.called("auth.createInvite") == [{"email": "noor@harbour.example", "expiresInDays": 3}]
    page.get_by_role("link", name="Devices").click()
    page.get_by_role("link", name="Users").click()
    page.locator(".thing").first.wait_for()
    assert LINK not in page.content()


@pytest.mark.thorough
def test_a_pairing_shows_a_code_large_with_its_time_and_its_picture_or_is_refused_in_words(
    start: Callable[..., App],
) -> None:
    app = start(IdentityAnswers())
    page = app.open("/settings/devices", ready=".thing")
    page.get_by_role("button", name="Pair a device").click()
    page.get_by_role("checkbox", name="Use terminals").check()
    page.get_by_role("button", name="Show the code").click()
    picture = page.get_by_role("img", name=f"The code {CODE} as a QR code")
    page.locator(".qr path[d^=M]").first.wait_for()
    assert app.called("devices.createPairingCode") == [{"capabilities": {"terminal": True}}]
    expect(page.locator(".code")).to_have_text(CODE)
    expect(page.locator(".code")).to_be_focused()
    assert qr_reader.read(modules_of(picture.locator("path").element_handle())) == CODE
    left = page.get_by_role("timer").inner_text()
    page.wait_for_function("left => document.querySelector('[role=timer]').innerText !== left", arg=left)
    app.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    app.tolerated = ("403",)
    app.answers.failing["devices.createPairingCode"] = Refusal("FORBIDDEN", 403, "Only an admin may open a shell.")
    page.get_by_role("button", name="Pair a device").click()
    page.get_by_role("button", name="Show the code").click()
    page.get_by_role("dialog").get_by_text("Only an admin may open a shell.").wait_for()


@pytest.mark.thorough
def test_a_device_may_act_as_an_admin_only_if_that_is_ticked_and_stands_in_the_list_once_it_took_the_code(
    start: Callable[..., App],
) -> None:
    app = start(IdentityAnswers())
    page = app.open("/settings/devices", ready=".thing")
    answers_of(app).devices.append(device(11, "Added elsewhere", "mobile"))
    page.evaluate("dispatchEvent(new Event('focus'))")  # the window is looked at again
    page.get_by_text("Added elsewhere").wait_for()
    page.get_by_role("button", name="Pair a device").click()
    choices = page.get_by_role("dialog").get_by_role("checkbox")
    expect(choices).to_have_count(6)
    for choice in choices.all():
        expect(choice).not_to_be_checked()
    page.get_by_text("All that you may do as an admin here").wait_for()
    page.get_by_role("checkbox", name="Act as an admin").check()
    page.get_by_role("button", name="Show the code").click()
    page.locator(".code").first.wait_for()
    assert app.called("devices.createPairingCode") == [{"capabilities": {"admin": True}}]
    answers_of(app).devices.append(device(9, "Somebody else’s", "mobile", userId=JONAS["id"]))
    answers_of(app).devices.append(device(10, "New phone", "mobile", capabilities={"admin": True}))
    page.get_by_text("New phone is paired.").wait_for()
    page.locator("dialog").first.wait_for(state="hidden")
    page.get_by_text("may act as an admin").wait_for()
    page.get_by_role("button", name="Revoke: New phone").wait_for()


def test_the_picture_of_any_short_text_reads_back(app: App) -> None:
    page = app.open("/login", ready="form")
    draw = """async text => {
        const { encode } = await import("/static/test/joined/vendor/uqr.js");
        return encode(text, { ecc: "M", boostEcc: false, border: 0 }).data;
    }"""
    for text in ("A", "0O1I", "7KQ2M-XW4RT", "ZZZZZ-22222", "lower case", "https://tern.example/x", "ÄÖ€", "A" * 60):
        assert qr_reader.read(page.evaluate(draw, text)) == text


@pytest.mark.thorough
def test_a_code_that_ended_can_be_asked_for_anew(start: Callable[..., App]) -> None:
    app = start(IdentityAnswers(code_lasts_s=1))
    page = app.open("/settings/devices", ready=".thing")
    page.get_by_role("button", name="Pair a device").click()
    page.get_by_role("button", name="Show the code").click()
    page.get_by_role("alert").get_by_text("The code has ended.").wait_for()
    page.get_by_role("button", name="Show a new code").click()
    page.get_by_text(OTHER_CODE).wait_for()
    assert len(app.calls("devices.createPairingCode")) == 2


@pytest.mark.thorough
def test_a_clock_that_is_wrong_does_not_end_the_code(start: Callable[..., App]) -> None:
    app = start(IdentityAnswers(code_lasts_s=-3_600), alone=True)
    app.page.clock.set_fixed_time(datetime.now(UTC))
    page = app.open("/settings/devices", ready=".thing")
    page.get_by_role("button", name="Pair a device").click()
    page.get_by_role("button", name="Show the code").click()
    expect(page.get_by_role("timer")).to_have_text("Good for 5:00")


@pytest.mark.thorough
def test_the_current_session_is_marked_and_the_others_can_be_ended(start: Callable[..., App]) -> None:
    app = start(IdentityAnswers())
    app.tolerated = ("503",)
    app.answers.failing["auth.sessions"] = Refusal("SERVICE_UNAVAILABLE", 503, "The database is busy.")
    page = app.open("/settings/sessions", ready="[role=alert]")
    page.get_by_text("Could not load the sessions: The database is busy.").wait_for()
    app.answers.failing.clear()
    page.get_by_role("button", name="Try again").click()
    page.get_by_text("Safari on iPhone").wait_for()
    expect(page.locator(".thing").first).to_contain_text("this browser")
    page.get_by_role("button", name="Sign out all other browsers").click()
    page.get_by_role("group", name="2 browsers will have to sign in again.").get_by_role(
        "button", name=SIGN_OUT
    ).click()
    page.get_by_text("Safari on iPhone").wait_for(state="detached")
    assert [one["id"] for one in answers_of(app).sessions] == ["ses_1"]


@pytest.mark.thorough
def test_a_session_that_ends_leads_to_the_login_page_and_back_to_the_very_section(start: Callable[..., App]) -> None:
    class Ending(IdentityAnswers):
        """The session has ended once the next section is shown, and no sooner: its users are asked for."""

        asked = False

        def rpc_users_list(self, given: dict[str, Any]) -> Any:
            if not self.asked:
                self.asked = True
                self.me.update(user=None)
                raise Refusal("UNAUTHORIZED", 401, "Log in first.")
            return super().rpc_users_list(given)

    app = start(Ending())
    app.tolerated = ("401",)
    page = app.open("/settings", ready=".who")
    page.get_by_role("link", name="Devices").click()
    page.get_by_label("Development login").fill("mia@ternandtide.example")
    page.get_by_role("button", name=SIGN_IN).click()
    page.get_by_role("heading", name="Devices and sessions", exact=True).wait_for()


@pytest.mark.thorough
@pytest.mark.parametrize("configured", [True, False])
def test_a_member_connects_or_asks_the_admin_and_is_given_no_homework(
    start: Callable[..., App], configured: bool
) -> None:
    answers = IdentityAnswers(me=signed_in(JONAS, googleLogin=configured), accounts=[])
    answers.sign_ins[0]["ready"] = configured
    page = start(answers).open("/p/mail", ready="h1")
    page.get_by_role("button", name="Microsoft").click()
    page.get_by_text("Ask your admin").wait_for()
    page.get_by_role("button", name="Microsoft").click()
    expect(page.get_by_role("link", name="Google")).to_have_count(int(configured))
    if not configured:
        page.get_by_role("button", name="Google").click()
    expect(page.get_by_text("Ask your admin")).to_have_count(int(not configured))
    expect(page.get_by_text("OAuth client ID")).to_have_count(0)
    expect(page.get_by_text("console")).to_have_count(0)


@pytest.mark.thorough
def test_an_admin_is_told_how_to_set_mail_up(start: Callable[..., App]) -> None:
    page = start(IdentityAnswers(me=signed_in(), accounts=[])).open("/p/mail", ready="h1")
    page.get_by_role("button", name="Google").click()
    page.get_by_text("Once, before the first account: create an OAuth client").wait_for()


@pytest.mark.thorough
def test_why_no_mail_account_was_connected_stays_until_it_is_dismissed(start: Callable[..., App]) -> None:
    app = start(IdentityAnswers(), alone=True)
    page = app.page
    page.clock.install()
    app.open("/p/mail?connect=Your%20mailbox%20is%20full.%20Call%20us.")
    reason = page.get_by_text("The account was not connected.")
    reason.wait_for()
    page.clock.fast_forward(60_000)
    expect(reason).to_be_visible()
    page.get_by_role("button", name="Dismiss").click()
    reason.wait_for(state="detached")


def modules_of(path: object) -> list[list[bool]]:
    """What the browser fills of a picture, module by module, without the quiet zone, which must be empty."""
    filled: list[list[bool]] = path.evaluate(  # type: ignore[attr-defined]
        """path => {
            const size = path.ownerSVGElement.viewBox.baseVal.width;
            const at = (x, y) => path.isPointInFill(new DOMPoint(x + 0.5, y + 0.5));
            return Array.from({ length: size }, (_, y) => Array.from({ length: size }, (_, x) => at(x, y)));
        }"""
    )
    inner = [row[4:-4] for row in filled[4:-4]]
    assert sum(map(sum, filled)) == sum(map(sum, inner)), "the quiet zone is not quiet"
    return inner
