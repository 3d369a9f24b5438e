"""The whole service with an account, and a person who sends from it, by the procedures alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from svc.clock import Millis, VirtualClock, rfc3339
from svc.fakes.mail.provider import FakeWorld
from svc.formats import mime
from svc.store import Invariant, ReadTx
from tests.support.service import MIA, Service
from tests.support.waiting import until

TO = "Noa <noa@example.org>"


def at(wall: VirtualClock, in_ms: Millis) -> str:
    """The time in so many milliseconds, as a client writes it."""
    return rfc3339(wall.now() + in_ms)


@dataclass
class Mailer:
    service: Service
    address: str = MIA
    account_id: str = field(default="")

    @property
    def fake_mail(self) -> FakeWorld:
        return self.service.workspace.service(FakeWorld)

    async def send(self, *, to: list[str] | None = None, subject: str = "Hello", **more: object) -> dict[str, Any]:
        wanted = {"accountId": self.account_id, "to": to or [TO], "subject": subject, "html": "<p>Hi.</p>", **more}
        answer: dict[str, Any] = await self.service.mutate("mail.send", **wanted)
        return answer

    async def outgoing(self, outgoing_id: str) -> dict[str, Any]:
        rows = await self.service.query("mail.outgoing")
        (row,) = [row for row in rows if row["id"] == outgoing_id]
        assert isinstance(row, dict)
        return row

    async def state(self, outgoing_id: str) -> str:
        return str((await self.outgoing(outgoing_id))["state"])

    async def until(self, outgoing_id: str, *states: str, within_s: float = 7_200) -> dict[str, Any]:
        """How it stands once it is in one of ``states``. Looks often at first, and more rarely as it takes longer."""
        row: dict[str, Any] = {}

        async def is_so() -> bool:
            nonlocal row
            row = await self.outgoing(outgoing_id)
            return row["state"] in states

        what = f"the outgoing mail to be {' or '.join(states)}"
        await until(is_so, what=what, within_s=within_s, longest_pause_s=60.0, tell=lambda: row)
        return row

    def accepted(self, address: str | None = None) -> list[mime.ParsedMessage]:
        """What the provider accepted, in order: the truth."""
        return [mime.parse_message(one.raw) for one in self.fake_mail.mailbox(address or self.address).sent]

    async def fault(self, fault: object, *, operation: str = "send", times: int = 1) -> None:
        await self.service.mutate(
            "fake.mail.fault", address=self.address, operation=operation, fault=fault, times=times
        )

    async def sync(self, address: str | None = None) -> None:
        await self.service.mutate("fake.mail.syncNow", address=address or self.address)

    async def problems(self) -> list[str]:
        """What ``svc fsck`` says."""
        workspace = self.service.workspace
        return [
            f"{one.name}: {problem}"
            for feature in workspace.features
            for one in feature.invariants
            if one.yields == "problems"
            for problem in await workspace.store.read(_problems, one)
        ]


def _problems(tx: ReadTx, invariant: Invariant) -> list[str]:
    return list(invariant.check(tx))


async def mailer_of(service: Service, address: str = MIA) -> Mailer:
    """An account with a mail in it, caught up."""
    await service.synced("Welcome", address=address)
    (account,) = [row for row in await service.query("mail.accounts") if row["address"] == address]
    return Mailer(service, address=address, account_id=account["id"])
