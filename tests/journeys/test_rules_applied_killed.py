"""The service killed while a rule works through the mail that is there, and while that is undone: nothing is half."""

from __future__ import annotations

from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from tests.sizes import APPLIED_DEATHS, HANGS_S
from tests.support.process import RpcError, ServiceProcess, until

pytestmark = [pytest.mark.journey, pytest.mark.wall_clock]

ME = "mia@example.com"
SUBJECTS = tuple(f"report {number}" for number in range(5))
PATH = "mail-rules/reports"
RULE = "---\nwhen: {from: shop.example}\nthen: [star, {file: notes/reports}, archive]\n---\n"


def test_a_death_while_a_rule_is_applied_or_undone_leaves_nothing_half(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path) as service:
        order = service.die_at(0, of="store")
        order.unlink()
        service.start(PROVIDERS="fake")
        for subject in SUBJECTS:
            sender = {"from": "Ann <ann@shop.example>"}
            service.mutate("fake.mail.inject", address=ME, subject=subject, text="Hello.", **sender)
        service.mutate("fake.mail.syncNow", address=ME)
        service.mutate("pages.save", path=PATH, body=RULE)
        deaths = 0
        for count, (of_apply, of_undo) in enumerate(APPLIED_DEATHS, start=1):
            order.write_text(str(of_apply))
            deaths += apply(service, order, count)
            order.write_text(str(of_undo))
            deaths += undo(service, order, count)
        assert deaths
        assert service.command("fsck").stdout == "ok\n"
        service.kill()


def apply(service: ServiceProcess, order: Path, count: int) -> bool:
    """Whether it died meanwhile. Each mail was acted on once, all the same."""
    answered = is_answered(service, "rules.apply", path=PATH)
    died = ends(service, order, count, answered=answered)
    if len(runs(service)) < count:  # it came before the run was begun
        service.mutate("rules.apply", path=PATH)
    until(lambda: are_done(service, count), what="the run to end", deadline_s=HANGS_S, tell=service.log)
    assert records(service) == [("done", len(SUBJECTS))]
    assert states(service) == dict.fromkeys(SUBJECTS, (False, True))
    filed = service.query("pages.get", path="notes/reports")["body"].splitlines()
    assert sorted(line.split("](")[0] for line in filed) == [f"- [{subject}" for subject in SUBJECTS]
    told = service.query("runs.get", id=runs(service)[-1][0])
    assert told["progress"] == {"done": len(SUBJECTS), "total": len(SUBJECTS)}
    assert told["output"] == {"mails": len(SUBJECTS)}
    return died


def undo(service: ServiceProcess, order: Path, count: int) -> bool:
    """Whether it died meanwhile. What was left is undone when a person presses *Undo* again."""
    run_id = runs(service)[-1][0]
    answered = is_answered(service, "rules.undo", runId=run_id)
    died = ends(service, order, count, answered=answered)
    if records(service) != [("undone", len(SUBJECTS))]:
        assert died
        service.mutate("rules.undo", runId=run_id)
    assert records(service) == [("undone", len(SUBJECTS))]
    assert states(service) == dict.fromkeys(SUBJECTS, (True, False))
    with pytest.raises(RpcError):
        service.mutate("rules.undo", runId=run_id)  # there is nothing left of it
    return died


def runs(service: ServiceProcess) -> list[tuple[str, str]]:
    return service.rows("select id, state from runs where workflow = 'rules.apply' order by created_at")


def records(service: ServiceProcess) -> list[tuple[str, int]]:
    """How many mails of the newest run are in each state."""
    newest = runs(service)[-1][0]
    return service.rows("select state, count(*) from rule_runs where batch = ? group by state", newest)


def are_done(service: ServiceProcess, count: int) -> bool:
    return [state for _, state in runs(service)] == ["done"] * count


def is_answered(service: ServiceProcess, procedure: str, **wanted: object) -> bool:
    """Whether the answer came before the death."""
    try:
        service.mutate(procedure, **wanted)
    except (OSError, HTTPException):
        return False
    return True


def ends(service: ServiceProcess, order: Path, count: int, *, answered: bool) -> bool:
    """Whether it died before the work was done; then it is started again, and dies no more."""
    until(
        lambda: service.is_dead() or (answered and are_done(service, count)),
        what="a death, or the end of the work",
        deadline_s=HANGS_S,
        tell=service.log,
    )
    order.unlink(missing_ok=True)
    with suppress(OSError, HTTPException):
        service.query("health.ping")
        return False
    assert service.wait() == -9
    service.start(PROVIDERS="fake")
    return True


def states(service: ServiceProcess) -> dict[str, tuple[bool, bool]]:
    """Of each mail: whether it is in the inbox, and starred."""
    listed: list[dict[str, Any]] = []
    for section in ("inbox", "skipped"):
        listed += service.query("mail.threads", section=section)["threads"]
    return {one["subject"]: (one["inInbox"], one["starred"]) for one in listed if one["subject"] in SUBJECTS}
