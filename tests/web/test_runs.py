"""Runs in the app: their list, the page of one, its steps, and the decisions that runs wait for; all of it live."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import TWICE, App
from tests.web.fake_identity import JONAS, IdentityAnswers, signed_in
from tests.web.fake_runs import moment, step
from tests.web.fake_server import Refusal

pytestmark = pytest.mark.browser


def runs(app: App, query: str = "") -> Page:
    return app.open(f"/p/runs{query}", ready=".runs h1")


def run_page(app: App, run_id: str) -> Page:
    return app.open(f"/p/runs/{run_id}", ready=".run-head h1")


def row(page: Page, title: str) -> Locator:
    return page.locator(".run-row").filter(has_text=title)


def step_of(page: Page, step_id: str) -> Locator:
    return page.locator(f"[data-step='{step_id}']")


def open_step(page: Page, name: str) -> Locator:
    found = step_of(page, name)
    found.locator("summary").first.click()
    return found


# The list


def test_each_state_has_its_words(app: App) -> None:
    answers = app.answers
    answers.add_run("Fresh", state="queued")
    answers.add_run("Busy", progress={"done": 120, "total": 5_000})
    answers.add_run("Timed", state="waiting", dueAt=moment(days=3, minutes=1))
    answers.add_run("Asking", state="waiting")
    answers.add_run("Over", state="done")
    page = runs(app)
    expect(row(page, "Fresh")).to_contain_text("Queued")
    expect(row(page, "Fresh")).to_contain_text("queued 10 h ago")
    expect(row(page, "Busy")).to_contain_text("Running")
    expect(row(page, "Busy")).to_contain_text("began 9 h ago")
    expect(row(page, "Busy")).to_contain_text("120 of 5,000")
    expect(row(page, "Busy").get_by_role("progressbar", name="Progress of Busy")).to_have_attribute("value", "120")
    expect(row(page, "Timed")).to_contain_text("goes on in 3 days at the latest")
    expect(row(page, "Asking")).to_contain_text("waits for a person or another run")
    expect(row(page, "Over")).to_contain_text("ended 3 h ago, took 6 h")


@pytest.mark.thorough
def test_filters_stand_in_the_address_and_what_failed_is_retried_together(app: App) -> None:
    app.answers.add_run("Broken", state="failed")
    app.answers.add_run("Index", workflow="search.reindex", state="done")
    app.answers.add_run("Mailbox", state="done")
    page = runs(app)
    expect(page.locator(".run-row")).to_have_count(3)
    page.get_by_role("link", name="Done", exact=True).click()
    expect(page.locator(".run-row")).to_have_count(2)
    page.get_by_label("Workflow").select_option("search.reindex")
    expect(page.locator(".run-row")).to_have_count(1)
    app.until("path => location.pathname + location.search === path", "/p/runs?state=done&workflow=search.reindex")
    page.get_by_role("link", name="Failed", exact=True).click()
    expect(page.get_by_text("No such run.")).to_be_visible()
    page.get_by_role("link", name="Show all").click()
    expect(page.locator(".run-row")).to_have_count(3)
    page.go_back()
    expect(page.get_by_text("No such run.")).to_be_visible()
    page = runs(app, "?state=failed")
    expect(page.locator(".run-row")).to_have_count(1)
    expect(page.get_by_role("link", name="Failed", exact=True)).to_have_attribute("aria-current", "page")
    page.get_by_role("button", name="Retry all").click()
    expect(page.get_by_text("also those not shown yet")).to_be_visible()
    page.get_by_role("button", name="Retry them").click()
    expect(page.get_by_text("One run goes on.")).to_be_visible()
    expect(page.locator(".run-row")).to_have_count(0)
    expect(page.get_by_role("button", name="Retry all")).to_have_count(0)


@pytest.mark.thorough
def test_more_are_shown_and_stay_when_others_come(app: App) -> None:
    for number in range(160):
        app.answers.add_run(f"Run {number:03}", createdAt=moment(minutes=-200 + number))
    page = runs(app)
    expect(page.locator(".run-row")).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".run-row")).to_have_count(100)
    expect(row(page, "Run 109").get_by_role("link")).to_be_focused()
    app.answers.add_run("Newest", createdAt=moment())
    expect(page.locator(".run-row").first).to_contain_text("Newest")
    expect(row(page, "Run 060")).to_have_count(1)
    expect(row(page, "Run 109").get_by_role("link")).to_be_focused()
    app.answers.change_run("run_0061", state="done", endedAt=moment())
    expect(row(page, "Run 060")).to_contain_text("Done")
    page.get_by_role("button", name="Show more").click()
    expect(row(page, "Run 000")).to_have_count(1)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)


@pytest.mark.thorough
def test_keys_walk_the_list_and_open_a_run(app: App) -> None:
    app.answers.add_run("Older")
    app.answers.add_run("Newer")
    page = runs(app)
    app.press("j")
    expect(page.get_by_role("link", name="Newer")).to_be_focused()
    app.press("j", "j")
    expect(page.get_by_role("link", name="Older")).to_be_focused()
    app.press("k", "j", "Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Older")
    app.press("?")
    expect(page.get_by_role("dialog").get_by_text("Back to the runs")).to_be_visible()
    app.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    app.press("Escape")
    app.at("/p/runs")
    expect(page.locator(".run-row")).to_have_count(2)
    app.press("u")
    app.at("/p/mail")


@pytest.mark.thorough
def test_an_admin_sees_that_others_have_runs_and_may_stop_them(start: Callable[..., App]) -> None:
    app = start(IdentityAnswers())
    app.answers.me = signed_in()
    app.answers.add_run("Theirs", mine=False, owner=JONAS["id"])
    app.answers.add_run("Mine")
    page = runs(app)
    expect(row(page, "Theirs")).to_contain_text("of Jonas Feld")
    expect(row(page, "Theirs").get_by_role("link")).to_have_count(0)
    expect(row(page, "Mine").get_by_role("button")).to_have_count(0)
    app.answers.add_run("Of Jonas, begun meanwhile", mine=False, owner=JONAS["id"])
    expect(row(page, "begun meanwhile")).to_contain_text("of Jonas Feld")
    row(page, "Theirs").get_by_role("button", name="Cancel").click()
    assert app.calls("runs.cancel") == []
    row(page, "Theirs").get_by_role("button", name="Stop it").click()
    expect(row(page, "Theirs")).to_contain_text("Cancelled")
    expect(row(page, "Theirs").get_by_role("button")).to_have_count(0)


def test_a_list_that_cannot_be_loaded_says_so_and_so_does_an_empty_one(app: App) -> None:
    app.tolerated = ("500", "WebSocket")
    app.answers.has_socket = False  # a socket that opens has the list loaded again, by itself
    app.answers.failing["runs.list"] = Refusal("INTERNAL_SERVER_ERROR", 500, "Something broke.")
    page = runs(app)
    expect(page.get_by_role("alert")).to_contain_text("Could not load the runs: Something broke.")
    app.answers.failing.clear()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("Nothing has run yet")).to_be_visible()
    expect(page.get_by_role("link", name="Runs")).to_be_visible()


# One run


def test_a_run_shows_its_steps_as_a_tree_with_branches_and_children(app: App) -> None:
    answers = app.answers
    usage = {"inputTokens": 1_234, "outputTokens": None}
    above = answers.add_run("Import all", state="waiting", usage=usage, progress={"done": 1, "total": 2})
    below = answers.add_run("Import one", parentId=above)
    lowest = answers.add_run("Read its folders", parentId=below)
    waits: dict[str, Any] = {"kind": "child", "state": "waiting", "endedAt": None, "childId": below}
    answers.change_run(above, steps=[step("list"), step("mia/count"), step("jonas/one", **waits), step("mia/count#2")])
    page = run_page(app, above)
    expect(page.locator(".run-facts")).to_contain_text("1,234 in, not told out")
    expect(page.locator(".run-head")).to_contain_text("1 of 2")
    tops = page.locator(".run-steps").first.locator("> li")
    expect(tops).to_have_count(3)
    expect(tops.nth(0)).to_contain_text("list")
    expect(tops.nth(1).locator(".run-branch")).to_contain_text("mia")
    expect(tops.nth(1).locator(".run-step-name")).to_have_text(["count", "count#2"])
    expect(tops.nth(2)).to_contain_text("Waiting")
    tops.nth(2).get_by_role("link", name="Open the run that it waits for").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Import one")
    page.get_by_role("region", name="Runs that it began").get_by_role("link", name="Read its folders").click()
    path = page.get_by_role("navigation", name="Where this run stands").get_by_role("link")
    expect(path).to_have_text(["Runs", "Import all", "Import one"])
    app.at(f"/p/runs/{lowest}")
    app.press("Escape")
    app.at(f"/p/runs/{below}")
    path.filter(has_text="Import all").click()
    app.at(f"/p/runs/{above}")


@pytest.mark.thorough
def test_a_step_tells_how_it_stands_and_opens_with_input_and_output(app: App) -> None:
    error = {"type": "OSError", "message": "The server did not answer."}
    steps = [
        step("fetch", attempts=2, input={"n": 1}, output="<img src=x onerror=alert(1)>"),
        step("nap", kind="timer", state="waiting", endedAt=None, dueAt=moment(hours=3, minutes=1)),
        step("send", state="waiting", endedAt=None, attempts=3, error=error, dueAt=moment(hours=7, minutes=9)),
        step("broken", state="failed", error=error),
        step("long", output="x" * 9_000 + "end"),
    ]
    run_id = app.answers.add_run("Work", state="waiting", input="pay\u202e 001\u200b", steps=steps)
    page = run_page(app, run_id)
    hidden = page.get_by_role("region", name="Input of the run")
    expect(hidden).to_have_text('"pay\\u202e 001\\u200b"')  # what is not seen in a text is shown
    expect(step_of(page, "fetch")).to_contain_text("2 tries, took 1 h")
    expect(step_of(page, "nap")).to_contain_text("ends in 3 h")
    expect(step_of(page, "send")).to_contain_text("3 tries, began 5 h ago, next try in 7 h")
    fetch = open_step(page, "fetch")
    expect(fetch.get_by_role("region", name="Input of fetch")).to_have_text('{\n  "n": 1\n}')
    expect(fetch.get_by_role("region", name="Output of fetch")).to_have_text('"<img src=x onerror=alert(1)>"')
    expect(page.locator(".runs img")).to_have_count(0)
    expect(open_step(page, "send")).to_contain_text("The last try: The server did not answer. OSError")
    expect(open_step(page, "broken")).to_contain_text("The server did not answer.")
    expect(step_of(page, "broken").get_by_role("region", name="Output of broken")).to_have_count(0)
    value = open_step(page, "long").get_by_role("region", name="Output of long")
    expect(value).to_have_text('"' + "x" * 1_999 + "…")  # cut until all is asked for
    page.get_by_role("button", name="Show all of Output of long").click()
    expect(value).to_contain_text("end")
    app.answers.change_run(run_id, steps=[*steps, step("next")])
    expect(step_of(page, "next")).to_be_visible()
    expect(value).to_contain_text("end")  # it stays open while the run goes on


@pytest.mark.thorough
def test_what_the_server_has_cut_is_asked_for_when_it_is_wanted(app: App) -> None:
    app.answers.whole_steps = {"long": {"output": ["x" * 9_000, "end"]}}
    cut = step("long", output='["' + "x" * 1_900, outputBytes=9_010)
    run_id = app.answers.add_run("Work", steps=[cut])
    page = run_page(app, run_id)
    value = open_step(page, "long").get_by_role("region", name="Output of long")
    expect(value).to_have_text('["' + "x" * 1_900 + "…")
    more = page.get_by_role("button", name="Show all of Output of long")
    expect(more).to_have_text(re.compile(r"Show all\s+9,010 bytes"))
    app.tolerated = ("500",)
    app.answers.failing["runs.step"] = Refusal("INTERNAL_SERVER_ERROR", 500, "Something broke.")
    more.click()
    expect(page.get_by_role("alert")).to_contain_text("Something broke.")
    app.answers.failing.clear()
    more.click()
    expect(value).to_contain_text('"end"')
    expect(more).to_have_count(0)
    app.answers.change_run(run_id, steps=[cut, step("next")])
    expect(step_of(page, "next")).to_be_visible()
    expect(value).to_contain_text('"end"')


@pytest.mark.thorough
def test_steps_are_walked_and_opened_by_key_and_hundreds_are_shown_when_asked_for(app: App) -> None:
    more = [step(f"s{number}") for number in range(128)]
    above = app.answers.add_run("Above", state="failed", steps=[step("one"), step("two", output=7), *more])
    page = run_page(app, app.answers.add_run("Below", state="failed", parentId=above))
    expect(page.get_by_role("button", name="Retry: Below")).to_have_count(0)
    page.get_by_role("link", name="retry that one").click()  # what another run began is retried there
    expect(page.get_by_role("button", name="Retry: Above")).to_be_visible()
    app.press("j", "j")
    expect(step_of(page, "two").locator("summary")).to_be_focused()
    app.press("Enter")
    expect(page.get_by_role("region", name="Output of two")).to_have_text("7")
    app.press("Enter")
    expect(page.get_by_role("region", name="Output of two")).to_have_count(0)
    app.press("k")
    expect(step_of(page, "one").locator("summary")).to_be_focused()
    expect(page.locator(".run-step")).to_have_count(100)
    page.get_by_role("button", name="Show 30 more steps").click()
    expect(page.locator(".run-step")).to_have_count(130)


@pytest.mark.thorough
def test_a_run_is_cancelled_after_a_question_and_retried(app: App) -> None:
    app.tolerated = ("409",)
    run_id = app.answers.add_run("Work", steps=[step("one")])
    page = run_page(app, run_id)
    page.get_by_role("button", name="Cancel: Work").click()
    expect(page.get_by_text("It stops, and so does all that it began.")).to_be_visible()
    expect(page.get_by_role("button", name="Leave it")).to_be_focused()  # a second “Cancel” would be a riddle
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Cancel: Work")).to_be_focused()
    assert app.calls("runs.cancel") == []
    app.answers.failing["runs.cancel"] = Refusal("CONFLICT", 409, "This run is done.")
    page.get_by_role("button", name="Cancel: Work").click()
    page.get_by_role("button", name="Stop it: Work").click()
    expect(page.locator(".run-head").get_by_role("alert")).to_have_text("This run is done.")
    app.answers.failing.clear()
    page.get_by_role("button", name="Cancel: Work").click()
    page.get_by_role("button", name="Stop it: Work").click()
    expect(page.locator(".run-head")).to_contain_text("It was stopped.")
    page.get_by_role("button", name="Retry: Work").click()
    expect(page.locator(".run-head .run-state")).to_have_text("Queued")
    assert app.called("runs.retry") == [{"id": run_id}]
    app.answers.change_run(run_id, state="failed", endedAt=moment(), error={"type": "Stuck", "message": "It is stuck."})
    expect(page.locator(".run-head .run-state")).to_have_text("Failed")
    expect(page.locator(".run-head")).to_contain_text("It is stuck. Stuck")


@pytest.mark.thorough
def test_an_agent_goes_on_from_each_call_of_its_model_also_from_one_in_a_branch(app: App) -> None:
    asked = [step("model", kind="llm"), step("notes/model", kind="llm"), step("notes/save")]
    run_id = app.answers.add_run("Tidy", state="done", workflow="agent", steps=asked)
    page = run_page(app, run_id)
    expect(open_step(page, "notes/save").get_by_role("button", name="Go on from here")).to_have_count(0)
    expect(open_step(page, "model").get_by_role("button", name="Go on from here")).to_be_visible()
    open_step(page, "notes/model").get_by_role("button", name="Go on from here").click()
    page.get_by_role("button", name="Begin it").click()
    expect(page.locator(".run-head .run-state")).to_have_text("Queued")
    assert app.called("agents.retry") == [{"runId": run_id, "stepId": "notes/model"}]
    field = page.get_by_role("textbox", name="Tell it something")
    field.fill("Leave my notes alone")
    page.get_by_role("button", name="Send to the agent").evaluate(TWICE)
    expect(field).to_have_value("")
    assert len(app.calls("agents.say")) == 1


def test_a_run_tells_what_its_person_and_its_agent_have_said_as_text(app: App) -> None:
    run_id = app.answers.add_run("Tidy", workflow="agent", steps=[step("model", kind="llm")])
    answer = "See [this](https://evil.example/) <b>now</b>"
    told = 'Tidy my notes\n\nInput: {"page":"notes/mine"}'
    said = [("person", told, True), ("agent", answer, True), ("person", "Only those of May", False)]
    app.answers.talks[run_id] = [
        {"by": by, "text": text, "at": moment(hours=-1), "heard": heard} for by, text, heard in said
    ]
    page = run_page(app, run_id)
    messages = page.locator(".run-talk li")
    expect(messages).to_have_text(
        ["You, about notes/mineTidy my notes", f"The agent{answer}", "You, not heard yetOnly those of May"]
    )
    expect(page.get_by_text("The agent is at work")).to_be_visible()
    expect(messages.locator("a")).to_have_attribute("href", "/p/notes/mine")
    expect(messages.locator("b")).to_have_count(0)
    app.answers.talks[run_id][2]["heard"] = True
    app.answers.change_run(run_id)
    expect(messages.last).to_have_text("YouOnly those of May")


def test_a_run_that_is_somebody_elses_is_not_there(app: App) -> None:
    app.tolerated = ("404",)
    page = app.open("/p/runs/run_nowhere", ready=".runs .empty")
    expect(page.get_by_text("There is no such run here")).to_be_visible()


# Decisions


def card(page: Page, summary: str = "Send a mail to Jonas") -> Locator:
    return page.get_by_role("article", name=summary)


def test_a_decision_waits_in_the_task_queue_with_all_that_would_happen(app: App) -> None:
    long = {"to": ["jonas@sea.example"], "text": "x" * 5_000 + "end"}
    app.answers.ask(app.answers.add_run("Write to Jonas"), "send", input=long)
    page = app.open("/p/tasks", ready=".approval")
    expect(page.get_by_role("link", name="Tasks, 1: 1 needs your decision")).to_be_visible()
    expect(page.get_by_role("region", name="Waits for your decision")).to_be_visible()
    expect(card(page)).to_contain_text("mail.send · asked 3 h ago · expires in 5 h")
    expect(card(page).get_by_role("region", name="What mail.send would be given")).to_contain_text('end"')
    card(page).get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Approved: Send a mail to Jonas")).to_be_visible()
    expect(card(page)).to_have_count(0)
    expect(page.get_by_role("link", name="Tasks", exact=True)).to_be_visible()
    assert app.called("approvals.decide") == [{"id": "apr_0002", "approve": True}]


@pytest.mark.thorough
def test_a_decision_comes_and_leaves_before_the_eyes_whoever_makes_it(app: App) -> None:
    app.tolerated = ("409",)
    run_id = app.answers.add_run("Write to Jonas")
    page = app.open("/p/tasks", ready=".tasks-frame .empty-title")
    key = app.answers.ask(run_id, "send")
    expect(card(page)).to_be_visible()
    app.answers.settle(key, None)
    expect(card(page)).to_have_count(0)
    app.answers.ask(run_id, "again")
    expect(card(page)).to_be_visible()
    app.answers.rpc_runs_cancel({"id": run_id})
    expect(card(page)).to_have_count(0)
    declined = app.answers.ask(app.answers.add_run("Write to Jonas"), "send")
    card(page).get_by_role("button", name="Change it first").click()
    app.press("Escape")  # leaves the change
    app.at("/p/tasks")
    card(page).get_by_role("button", name="Decline").click()
    expect(card(page)).to_have_count(0)
    assert app.called("approvals.decide") == [{"id": declined, "approve": False}]
    app.answers.ask(app.answers.add_run("Write to Jonas"), "send")
    app.open("/p/tasks", ready=".approval")  # no late news of the request has the page look again
    app.answers.approvals.clear()  # it was decided elsewhere, and the page did not hear of it
    card(page).get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Not decided by you: This request is approved already.")).to_be_visible()
    expect(card(page)).to_have_count(0)


@pytest.mark.thorough
def test_it_is_changed_as_json_before_it_is_approved(app: App) -> None:
    app.tolerated = ("400",)
    app.answers.ask(
        app.answers.add_run("Write to Jonas"), "send", input={"to": ["a@x.example"], "note": "a\u200bb\U000e0041"}
    )
    page = app.open("/p/tasks", ready=".approval")
    card(page).get_by_role("button", name="Change it first").click()
    field = page.get_by_label("What it is given, as JSON")
    expect(field).to_be_focused()
    expect(field).to_have_value('{\n  "to": [\n    "a@x.example"\n  ],\n  "note": "a\\u200bb\\udb40\\udc41"\n}')
    field.fill('{"to": [')
    page.get_by_role("button", name="Approve as changed").click()
    expect(card(page).get_by_role("alert")).to_contain_text("This is not JSON, so nothing was decided: ")
    expect(field).to_have_value('{"to": [')
    expect(field).to_be_focused()
    assert app.calls("approvals.decide") == []
    field.fill('{"to": ["b@x.example"]}')
    app.answers.failing["approvals.decide"] = Refusal("BAD_REQUEST", 400, "A run keeps values of at most 262144 bytes.")
    page.get_by_role("button", name="Approve as changed").click()
    expect(card(page).get_by_role("alert")).to_have_text("A run keeps values of at most 262144 bytes.")
    expect(field).to_have_value('{"to": ["b@x.example"]}')
    app.answers.failing.clear()
    page.get_by_role("button", name="Approve as changed").click()
    expect(card(page)).to_have_count(0)
    decided = {"id": "apr_0002", "approve": True, "input": {"to": ["b@x.example"]}}
    assert app.called("approvals.decide", times=2) == [decided, decided]  # the first was refused


@pytest.mark.thorough
def test_the_same_card_stands_at_the_step_of_the_run(app: App) -> None:
    run_id = app.answers.add_run("Write to Jonas", steps=[step("draft")])
    app.answers.ask(run_id, "send", expiresAt=moment(days=3, minutes=1))
    page = run_page(app, run_id)
    expect(step_of(page, "send")).to_contain_text("Needs a decision")
    expect(step_of(page, "send")).to_contain_text("expires in 3 days")
    expect(step_of(page, "draft").get_by_role("article")).to_have_count(0)
    step_of(page, "send").get_by_role("button", name="Approve").click()
    expect(step_of(page, "send").locator(".run-state")).to_have_text("Done")
    expect(card(page)).to_have_count(0)
    expect(page.locator(".run-head .run-state")).to_have_text("Queued")
    app.answers.ask(run_id, "again")
    step_of(page, "again").get_by_role("button", name="Decline").click()
    expect(step_of(page, "again").locator(".run-state")).to_have_text("Declined")


@pytest.mark.thorough
def test_who_goes_to_another_page_before_the_next_run_has_begun_stays_there(app: App) -> None:
    page = run_page(app, app.answers.add_run("Tidy", state="done", workflow="agent", steps=[step("model", kind="llm")]))
    retry = app.hold("agents.retry")
    open_step(page, "model").get_by_role("button", name="Go on from here").click()
    page.get_by_role("button", name="Begin it").click()
    retry.asked()
    app.press("u")
    app.at("/p/runs")
    retry.let_go()
    app.called("agents.retry")
    app.settled()
    app.at("/p/runs")
