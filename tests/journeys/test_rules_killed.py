"""The service killed at steps of the consumer that rules follow mail by: each mail passes them once, all the same."""

from __future__ import annotations

from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

import pytest

from tests.sizes import HANGS_S, RULE_DEATHS
from tests.support.process import ServiceProcess, until

pytestmark = [pytest.mark.journey, pytest.mark.wall_clock]

ME = "mia@example.com"
MAILS_A_DEATH = 3
RULES = {
    "a-file": "when: {from: shop.example}\nthen: [{file: notes/reports}, {task: Read it}, archive]",
    "b-ask": "when: {subject: question}\nask: Is it urgent?\nthen: [star]",
}


def test_a_death_while_rules_take_mail_on_repeats_nothing_and_loses_nothing(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path) as service:
        order = service.die_at(0, of="consumer:mail-rules")
        order.unlink()
        service.start(PROVIDERS="fake")
        comes(service, "the first")
        service.mutate("fake.mail.syncNow", address=ME)
        for name, front in RULES.items():
            service.mutate("pages.save", path=f"mail-rules/{name}", body=f"---\n{front}\n---\n")
        answers = [{"text": '{"q1": true}'}] * 3 * len(RULE_DEATHS)
        service.mutate("fake.llm.script", match="Is it urgent?", replies=answers)
        subjects: list[str] = []
        deaths = 0
        for step in RULE_DEATHS:
            fresh = [f"question {step}", *(f"report {step}.{number}" for number in range(1, MAILS_A_DEATH))]
            subjects += fresh
            for subject in fresh:
                comes(service, subject)
            order.write_text(str(step))
            with suppress(OSError, HTTPException):  # the death may come before the answer
                service.mutate("fake.mail.syncNow", address=ME)
            if dies(service):
                deaths += 1
                order.unlink()
                service.start(PROVIDERS="fake")
                service.mutate("fake.mail.syncNow", address=ME)
            else:
                order.unlink()
        assert deaths
        until(
            lambda: settled(service, len(subjects)),
            what="the rules to take all mails on",
            deadline_s=HANGS_S,
            tell=service.log,
        )
        look(service, subjects)
        service.kill()


def comes(service: ServiceProcess, subject: str) -> None:
    sender = {"from": "Ann <ann@shop.example>"}
    service.mutate("fake.mail.inject", address=ME, subject=subject, text="Hello.", **sender)


def settled(service: ServiceProcess, mails: int) -> bool:
    """Whether all mails are here, the consumer is at the newest, and no run works on any."""
    rows = service.rows(
        """
        select count(*), (select seq from consumers where name = 'mail-rules') >= max(seq),
            (select count(*) from runs where workflow = 'rules.mail' and state not in ('done', 'failed'))
        from events where type = 'mail-received'
        """
    )
    return rows == [(mails + 1, 1, 0)]


def dies(service: ServiceProcess) -> bool:
    """Whether the death came before all that is here was taken on."""
    found: list[bool] = []

    def told() -> bool:
        if service.is_dead():
            found.append(True)
        else:
            with suppress(OSError, HTTPException):
                count = len(service.query("fake.mail.sent", address=ME))  # it answers
                here = service.rows("select count(*) from events where type = 'mail-received'")[0][0]
                if not count and settled(service, here - 1):
                    found.append(False)
        return bool(found)

    until(told, what="a death, or the end of the work", deadline_s=HANGS_S, tell=service.log)
    if found[0]:
        assert service.wait() == -9
    return found[0]


def look(service: ServiceProcess, subjects: list[str]) -> None:
    """Each mail was filed, became a task and left the inbox once; each question began one run, and asked one time."""
    found = service.rows(
        """
        select m.subject, count(*), sum(r.state = 'done') from rule_runs r join mail_messages m on m.id = r.message_id
        group by m.subject
        """
    )
    assert sorted(found) == sorted((subject, 1, 1) for subject in subjects)
    page = service.query("pages.get", path="notes/reports")
    assert sorted(line.split("](")[0] for line in page["body"].splitlines()) == sorted(f"- [{one}" for one in subjects)
    assert page["revision"] == len(subjects), "a mail that was taken on twice would have written it once more"
    ((runs,),) = service.rows("select count(*) from runs where workflow = 'rules.mail'")
    assert runs == len(RULE_DEATHS)
    inbox = {one["subject"] for one in service.query("mail.threads", section="inbox")["threads"]}
    assert inbox & set(subjects) == set()
    assert service.command("fsck").stdout == "ok\n"
