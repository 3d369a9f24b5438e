"""How runs and decisions look and read: axe-core, light, dark, phone, screenshots in tests/shots/."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.browser import App
from tests.web.fake_identity import JONAS, IdentityAnswers, signed_in
from tests.web.fake_runs import moment, step
from tests.web.test_app_looks import SIZES, check_in_a_light, small_targets

pytestmark = [pytest.mark.browser, pytest.mark.look, pytest.mark.share(2)]

ERROR = {"type": "OSError", "message": "The provider did not answer within 30 seconds."}


def busy_answers() -> tuple[IdentityAnswers, str]:
    """Answers with many runs; one run has much in it."""
    answers = IdentityAnswers()
    answers.me = signed_in()
    answers.add_run("Re-index everything", workflow="search.reindex", state="done")
    answers.add_run("Import post.example", state="failed", error=ERROR)
    answers.add_run("Import a mailbox of somebody with a long name", mine=False, owner=JONAS["id"])
    waits: dict[str, Any] = {"kind": "child", "state": "waiting", "endedAt": None, "childId": "run_0005"}
    steps = [
        step("list the folders of the mailbox", input={"folder": "INBOX"}, output=["a", "b"]),
        step("mia@ternandtide.example/count", attempts=3),
        step("mia@ternandtide.example/pause", kind="timer", state="waiting", endedAt=None, dueAt=moment(hours=2.5)),
        step("post.example/read", **waits),
        step("post.example/tell", state="failed", error=ERROR),
    ]
    run_id = answers.add_run("Import all mailboxes", steps=steps, progress={"done": 3_120, "total": 48_211})
    answers.add_run("Import mia.tern@post.example", parentId=run_id)
    answers.ask(run_id, "remove what is left", summary="Remove 3,120 mails that are here twice")
    return answers, run_id


def test_runs_and_decisions_pass_axe_and_fit(start: Callable[..., App], size: str) -> None:
    answers, run_id = busy_answers()
    app = start(answers, **SIZES[size])
    page = app.open("/p/runs", ready=".run-row")
    page.get_by_role("button", name="Cancel: Import a mailbox").click()
    check_in_a_light(page, f"{size}-runs")
    page = app.open(f"/p/runs/{run_id}", ready=".approval")
    page.locator("[data-step^=list] summary").click()
    page.locator("[data-step$=tell] summary").click()
    check_in_a_light(page, f"{size}-run")
    page = app.open("/p/tasks", ready=".approval")
    page.get_by_role("button", name="Change it first").click()
    page.get_by_label("What it is given").fill("{")
    page.get_by_role("button", name="Approve as changed").click()
    check_in_a_light(page, f"{size}-decision")


def test_what_a_finger_presses_there_is_large_enough(start: Callable[..., App]) -> None:
    answers, run_id = busy_answers()
    app = start(answers, **SIZES["phone"])
    for path, ready in (("/p/runs", ".run-row"), (f"/p/runs/{run_id}", ".approval"), ("/p/tasks", ".approval")):
        assert "\n".join(small_targets(app.open(path, ready=ready))) == ""
