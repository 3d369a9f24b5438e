"""What an admin sees of the invites: what became of each, and who came in by it."""

from __future__ import annotations

from pathlib import Path

from svc.clock import VirtualClock
from svc.identity import recovery
from tests.identity.people import sign_in
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, Service, open_service


async def test_a_used_invite_names_who_came_in_by_it_and_an_open_one_nobody(service: Service) -> None:
    mia = await sign_in(service, MIA)
    code = (await mia.mutate("auth.createInvite"))["code"]
    await mia.mutate("auth.createInvite", email="ida@example.org")
    noa = await sign_in(service, "noa@example.org", invite=code)
    user = (await noa.me())["user"]
    used_by = {row["email"]: row["usedBy"] for row in await mia.query("auth.invites")}
    assert used_by == {None: {"id": user["id"], "email": "noa@example.org", "name": "noa"}, "ida@example.org": None}


async def test_signing_in_again_with_another_invite_uses_none(service: Service) -> None:
    mia = await sign_in(service, MIA)
    code = (await mia.mutate("auth.createInvite"))["code"]
    await sign_in(service, MIA, invite=code)
    (row,) = await mia.query("auth.invites")
    assert (row["usedAt"], row["usedBy"]) == (None, None)


async def test_the_bootstrap_invite_names_the_admin_who_claimed_by_it(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(
        tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_HOST="192.0.2.7", SVC_CLAIM_TOKEN="x" * 32
    ) as service:
        code = await service.workspace.store.write(recovery.invite, email=None, days=1, admin=True)
        mia = await sign_in(service, MIA, invite=code)
        (row,) = await mia.query("auth.invites")
        assert row["usedAt"] is not None
        assert row["usedBy"]["email"] == MIA
