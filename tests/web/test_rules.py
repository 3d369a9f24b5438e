"""Mail rules in the app, against the whole program: one is written, tried and switched on; a mail says why it skipped
the inbox; a drafted reply is edited and approved. One service and one page for all of it, with the fake model."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import TWICE, fresh_page, hear, intercept, until
from tests.support.installed import InstalledService
from tests.support.process import ServiceProcess
from tests.support.shots import keep_picture
from tests.web.test_app_looks import check

pytestmark = [pytest.mark.journey, pytest.mark.browser]

MIA = "mia@example.com"
SHOP = "ann@shop.example"
ELSEWHERE = "https://elsewhere.example/?of=the-board"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with InstalledService(tmp_path_factory.mktemp("rules")) as process:
        process.start(PROVIDERS="fake", SVC_SEED="mock-world", SVC_UNDO_SEND_SECONDS="0")
        yield process


def receive(service: ServiceProcess, subject: str, *, sender: str = f"Ann <{SHOP}>") -> str:
    """The thread of a mail that has come in."""
    mail = {"address": MIA, "from": sender, "subject": subject, "text": "Hello, here it is."}
    service.mutate("fake.mail.inject", **mail)
    service.mutate("fake.mail.syncNow", address=MIA)
    pages = [service.query("mail.threads", section=section)["threads"] for section in ("inbox", "skipped")]
    return str(next(one["id"] for page in pages for one in page if one["subject"] == subject))


def test_a_rule_is_written_tried_and_switched_on_and_a_drafted_reply_is_approved(
    service: ServiceProcess, browser: Browser
) -> None:
    complaints: list[str] = []
    before = receive(service, "Offer of last week")
    with fresh_page(browser, base_url=service.base) as page:
        hear(page, complaints.append)
        _write_and_try(page)
        keep_picture(page, "desktop-rules-editor")
        page.get_by_role("button", name="Save and switch on").click()
        expect(page.get_by_role("switch", name="Offers")).to_be_checked()
        expect(page.get_by_text("from shop.example, the subject has offer: skip the inbox")).to_be_visible()
        _mail_says_why(service, page, before)
        _reply_is_approved(service, page)
    assert [one for one in complaints if "status of 400" not in one] == []  # a rule without a condition was tried


def test_mail_is_sorted_by_kind_and_one_key_corrects_it_for_good(service: ServiceProcess, browser: Browser) -> None:
    complaints: list[str] = []
    before = receive(service, "Shall we meet?")
    with fresh_page(browser, base_url=service.base) as page:
        hear(page, complaints.append)
        page.goto("/settings/triage")
        page.get_by_role("switch", name="Sort my mail by kind").click()
        expect(page.get_by_role("switch", name="Sort my mail by kind")).to_be_checked()
        expect(page.get_by_role("switch", name="Ask the model")).not_to_be_checked()
        page.goto("/p/mail")
        kinds = page.get_by_role("group", name="Kinds of mail")
        row = page.locator(f"[data-thread={before}]")
        expect(row.locator(".chip.kind")).to_have_text("Needs reply, ")
        check(page, "desktop-triage-rows")
        kinds.get_by_role("button", name="Needs reply").click()
        expect(row).to_be_visible()
        expect(row.locator(".chip.kind")).to_have_count(0)
        thread = receive(service, "And where?")
        expect(page.locator(f"[data-thread={thread}]")).to_be_visible()  # it comes while one looks
        page.locator(f"[data-thread={thread}]").click()
        mark = page.get_by_role("button", name="Kind: Needs reply")
        expect(mark).to_be_visible()
        keep_picture(page, "desktop-triage")
        page.keyboard.press("3")
        expect(page.get_by_role("button", name="Kind: Reading")).to_be_visible()
        expect(page.get_by_text(f"So is what {SHOP} sends from now on.")).to_be_visible()
        third = receive(service, "Once more?")
        page.goto("/p/mail/k/reading")
        for one in (thread, third):
            expect(page.locator(f"[data-thread={one}]")).to_be_visible()
        expect(page.locator(f"[data-thread={before}]")).to_be_hidden()
        check(page, "desktop-triage-reading")
        page.goto("/p/mail")
        expect(page.locator(f"[data-thread={third}] .chip.kind")).to_have_text("Reading, ")
        page.keyboard.press("j")
        for key, words in (("4", "Receipts, "), ("3", "Reading, ")):
            page.keyboard.press(key)
            expect(page.locator(".row.selected .chip.kind")).to_have_text(words)
        page.goto("/settings/triage")
        page.get_by_role("button", name=f"Forget {SHOP}").click()
        expect(page.get_by_text(f"{SHOP}: Reading")).to_be_hidden()
        page.get_by_role("switch", name="Sort my mail by kind").click()
        expect(page.get_by_text("Triage is off.")).to_be_visible()
        page.goto("/p/mail")
        expect(page.get_by_role("group", name="Show only")).to_be_visible()
        expect(page.get_by_role("group", name="Kinds of mail")).to_be_hidden()
    assert complaints == []


def test_what_one_does_again_and_again_is_offered_as_a_rule(service: ServiceProcess, browser: Browser) -> None:
    sender = "Deals <deals@flyers.example>"
    threads = []
    for number in range(5):
        threads.append(receive(service, f"Flyer {number}", sender=sender))
        service.mutate("mail.archive", threadIds=threads[-1:])
    complaints: list[str] = []
    with fresh_page(browser, base_url=service.base) as page:
        hear(page, complaints.append)
        page.goto(f"/p/mail/t/{threads[0]}")
        offer = page.get_by_role("complementary", name="Suggested rule")
        expect(offer).to_contain_text("You have archived 5 threads of deals@flyers.example.")
        check(page, "desktop-rules-suggested")
        page.goto("/settings/rules")
        offers = page.get_by_role("region", name="Suggested rules")
        offers.get_by_role("button", name="Look at it first").click()
        expect(page.get_by_label("From", exact=True)).to_have_value("deals@flyers.example")
        page.get_by_role("button", name="Cancel").click()
        offers.get_by_role("button", name="Let a rule do it").evaluate(TWICE)
        expect(page.get_by_role("switch", name="Archive what deals@flyers.example sends")).to_be_checked()
        expect(offers).to_be_hidden()
        last = receive(service, "Flyer of today", sender=sender)
        page.goto(f"/p/mail/t/{last}")
        page.get_by_role("button", name="Why is this here?").click()
        expect(page.locator(".why")).to_contain_text("from deals@flyers.example")
        expect(page.get_by_role("complementary", name="Suggested rule")).to_be_hidden()
        _apply_and_take_back(service, page, last)
    assert complaints == []


def test_an_agent_is_written_without_yaml_begun_on_a_page_and_a_thread_and_goes_on_from_a_step(
    service: ServiceProcess, browser: Browser
) -> None:
    thread = receive(service, "Board on Friday")
    service.mutate("pages.save", path="notes/board", body="Bring cake.")
    complaints: list[str] = []
    with fresh_page(browser, base_url=service.base) as page:
        hear(page, complaints.append)
        _write_an_agent(service, page)
        _begin_it_on_the_thread(service, page, thread)
        _trust_what_it_wrote(page)
        page.goto("/p/notes/board")
        service.mutate("fake.llm.script", replies=[{"text": "It says cake."}])
        page.get_by_role("button", name="Ask an agent").click()
        dialog = page.get_by_role("dialog", name="Ask an agent")
        dialog.get_by_label("What is to be done").fill("Read this page")
        intercept(page, "**/trpc/agents.run*", lambda route: route.abort(), times=1)
        dialog.get_by_role("button", name="Begin").click()
        expect(dialog.get_by_role("alert")).to_contain_text("can't be reached")
        check(page, "desktop-agent-ask")
        dialog.get_by_role("button", name="Begin").click()  # the words are still there
        expect(page.locator(".run-head .run-state")).to_have_text("Done")
        assert "notes/board" in str(service.query("fake.llm.calls")[-1])
        _ask_by_the_palette(service, page)
    expected = ("status of 400", "net::ERR_FAILED")  # a time that is none was refused, and a run was not begun
    assert [one for one in complaints if not any(part in one for part in expected)] == []


def _write_an_agent(service: ServiceProcess, page: Page) -> None:
    page.goto("/settings/agents")
    expect(page.get_by_text("Nothing is kept yet.")).to_be_visible()
    page.get_by_role("button", name="New agent").click()
    form = page.get_by_role("form", name="Agent")
    form.get_by_label("Name", exact=True).fill("Reader of mail")
    form.get_by_label("What it is to do").fill("Note what the mail says.")
    form.get_by_label("Fetch web addresses").click()
    page.get_by_role("link", name="Rules", exact=True).click()
    page.get_by_role("button", name="New rule").wait_for()
    page.go_back()
    expect(form.get_by_label("Name", exact=True)).to_have_value("Reader of mail")
    page.reload()
    expect(form.get_by_label("Name", exact=True)).to_have_value("Reader of mail")
    expect(form.get_by_text("only when you start it")).to_be_visible()
    form.get_by_text("When it runs by itself").click()
    form.get_by_label("At times (UTC)").fill("whenever")
    form.get_by_text("Model and cost").click()
    form.get_by_label("Dollars that one run may cost").fill("0.5")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("alert")).to_contain_text("a schedule is")
    form.get_by_label("At times (UTC)").fill("daily at 07:30")
    check(page, "desktop-agent-editor")
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_text("daily at 07:30 (UTC), at most $0.50 a run")).to_be_visible()
    (agent,) = service.query("agents.list")
    assert agent["path"] == "agents/reader-of-mail"
    assert "http.fetch" not in agent["tools"]
    page.get_by_role("button", name="Edit Reader of mail").click()
    expect(form.get_by_label("What it is to do")).to_have_value("Note what the mail says.")
    form.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Edit Reader of mail")).to_be_focused()


def _ask_by_the_palette(service: ServiceProcess, page: Page) -> None:
    """The agent is told of the page that is open, and not of the inbox as if it were one."""
    for path, told in (("/p/notes/board", True), ("/p/mail", False)):
        service.mutate("fake.llm.script", replies=[{"text": "Cake."}])
        page.goto(path)
        page.get_by_role("link", name="Runs").first.wait_for()
        page.keyboard.press("Control+k")
        page.keyboard.type("what is to be brought")
        page.locator("#palette-list .chooser-item").filter(has_text="Ask an agent").click()
        expect(page.locator(".run-head .run-state")).to_have_text("Done")
        assert ("Input:" in str(service.query("fake.llm.calls")[-1]["messages"])) is told, path


def _begin_it_on_the_thread(service: ServiceProcess, page: Page, thread: str) -> None:
    note = {"path": "notes/from-mail", "body": f"The board [meets]({ELSEWHERE}) on Friday."}
    read = {"name": "mail_read", "input": {"threadId": thread}}
    replies = [{"toolCalls": [read]}, {"toolCalls": [{"name": "pages_save", "input": note}]}, {"text": "Noted."}]
    service.mutate("fake.llm.script", replies=replies)
    page.goto(f"/p/mail/t/{thread}")
    page.get_by_role("button", name="Ask an agent").click()
    dialog = page.get_by_role("dialog", name="Ask an agent")
    dialog.get_by_label("Agent").select_option("Reader of mail")
    dialog.get_by_role("button", name="Begin").click()
    expect(page.locator(".run-head .run-state")).to_have_text("Done")
    expect(page.locator(".run-facts")).to_contain_text("of at most $0.50")
    service.mutate("fake.llm.script", replies=[{"text": "Said otherwise."}])
    before = page.url
    step = page.locator("[data-step='model#3']")
    step.locator("summary").click()
    step.get_by_role("button", name="Go on from here").click()
    step.get_by_role("button", name="Begin it").click()
    expect(page).not_to_have_url(before)
    expect(page.locator(".run-said").last).to_have_text("Said otherwise.")
    check(page, "desktop-agent-run")


def _trust_what_it_wrote(page: Page) -> None:
    page.goto("/p/notes/from-mail")
    mark = page.get_by_role("status").filter(has_text="read text from outside")
    expect(mark).to_be_visible()
    expect(page.locator(".prose")).to_have_text(f"The board meets [{ELSEWHERE}] on Friday.")
    expect(page.locator(".prose a")).to_have_count(0)
    check(page, "desktop-page-from-outside")
    mark.get_by_role("button", name="Trust it").click()
    expect(mark).to_be_hidden()
    expect(page.locator(".prose a")).to_have_attribute("href", ELSEWHERE)
    page.reload()
    expect(page.get_by_role("heading", name="from-mail")).to_be_visible()
    expect(mark).to_be_hidden()


def _write_and_try(page: Page) -> None:
    page.goto("/settings/rules")
    page.get_by_role("button", name="New rule").click()
    expect(page.get_by_label("Name")).to_be_focused()
    page.get_by_label("Name").fill("Offers")
    page.get_by_role("button", name="Try it").click()
    expect(page.get_by_role("alert")).to_contain_text("no condition")
    page.get_by_label("From", exact=True).fill("shop.example")
    page.get_by_label("Subject has").fill("offer")
    page.get_by_role("link", name="Agents", exact=True).click()  # who leaves finds it again
    page.get_by_role("button", name="New agent").wait_for()
    page.go_back()
    expect(page.get_by_label("Name")).to_have_value("Offers")
    expect(page.get_by_label("Subject has")).to_have_value("offer")
    page.get_by_label("And the model says yes to").fill("Is it an advert?")
    page.get_by_role("button", name="Try it").click()
    tried = page.get_by_role("status", name="What it would match")
    expect(tried).to_contain_text("it matches 1 thread")
    expect(tried).to_contain_text("would cost $0.0")
    page.get_by_label("And the model says yes to").fill("")
    page.get_by_role("button", name="Try it").click()
    expect(tried).not_to_contain_text("cost")


def _mail_says_why(service: ServiceProcess, page: Page, before: str) -> None:
    thread = receive(service, "Offer of today")
    page.goto(f"/p/mail/t/{thread}")
    expect(page.get_by_text("Skipped the inbox", exact=True).first).to_be_visible()
    page.get_by_role("button", name="Why is this here?").click()
    why = page.locator(".why")
    expect(why).to_contain_text(f"from {SHOP}")
    why.get_by_role("button", name="Undo").click()
    expect(why).to_contain_text("It was taken back.")
    expect(page.get_by_role("button", name="Archive")).to_be_visible()
    why.get_by_role("button", name="Not for this sender").click()
    expect(page.get_by_text("The rule leaves this sender alone now.")).to_be_visible()
    (rule,) = service.query("rules.list")
    assert rule["rule"]["except"] == [SHOP]
    page.goto(f"/p/mail/t/{before}")
    page.get_by_role("button", name="Why is this here?").click()
    expect(page.locator(".why")).to_contain_text("No rule has touched this thread.")
    page.get_by_role("button", name="Why is this here?", expanded=True).press("Enter")
    expect(page.locator(".why")).to_have_count(0)


def _apply_and_take_back(service: ServiceProcess, page: Page, thread: str) -> None:
    """To the mail that is there: how much it is, before; all of it taken back, after."""
    service.mutate("mail.unarchive", threadIds=[thread])
    page.goto("/settings/rules")
    apply = page.get_by_role("button", name="Apply: Archive what deals@flyers.example sends")
    apply.click()
    expect(page.get_by_role("group", name=re.compile("it matches 6 threads. Apply it"))).to_be_visible()
    apply.click()
    expect(page.get_by_text("It runs on the mail that is there")).to_be_visible()
    page.get_by_role("button", name="Show the run").click()
    expect(page.locator(".run-head .run-state")).to_have_text("Done")
    skipped = {"section": "skipped", "limit": 200}
    assert thread in [one["id"] for one in service.query("mail.threads", **skipped)["threads"]]
    page.locator(".run-head").get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Take it back").click()
    expect(page.get_by_text("Taken back: labels, stars and the inbox are as before.")).to_be_visible()
    assert thread not in [one["id"] for one in service.query("mail.threads", **skipped)["threads"]]


def _reply_is_approved(service: ServiceProcess, page: Page) -> None:
    body = "---\nwhen: {from: shop.example, subject: order}\nthen: [{draft: Say thanks.}]\n---\n"
    service.mutate("pages.save", path="mail-rules/thanks", body=body)
    service.mutate(
        "fake.llm.script", match="Say thanks.", replies=[{"text": "Thank you, Ann.\n\nMia", "delayMs": 1_500}]
    )
    page.goto(f"/p/mail/t/{receive(service, 'Your order')}")  # the draft comes while one reads
    card = page.get_by_role("region", name="Proposed reply")
    expect(card).to_contain_text(SHOP)
    assert service.query("fake.mail.sent", address=MIA) == []
    card.get_by_role("button", name="Edit").click()
    card.get_by_label("The reply").fill("Thank you very much, Ann.")
    keep_picture(page, "desktop-rules-reply")
    card.get_by_role("button", name="Approve and send").click()
    expect(card).to_be_hidden()
    until(page, lambda: service.query("fake.mail.sent", address=MIA) != [], what="the reply to leave")
    (sent,) = service.query("fake.mail.sent", address=MIA)
    assert sent["to"] == [SHOP]
    assert sent["subject"] == "Re: Your order"
