"""Who is usually written to together is offered, from one's own sent mail, to nobody else."""

from __future__ import annotations

from typing import Any

from svc.mail.threads.tables import MET_TOGETHER
from svc.people import actions
from svc.people.together import MAX_IN_A_GROUP
from svc.store import ReadTx, Tx
from tests.identity.people import sign_in
from tests.people.test_meeting import NOA, arrives, connect, problems, sends
from tests.support.service import MIA, Service

PAIRS = "select * from people_together order by 1, 2"

ANN, BOB, CARL = "ann@sea.example", "bob@sea.example", "carl@sea.example"


async def together(service: Service, *addresses: str) -> list[str]:
    found: list[dict[str, Any]] = await service.query("people.together", addresses=addresses)
    return [one["address"] for one in found]


async def send(service: Service, *mails: tuple[str, ...]) -> None:
    for to in mails:
        await sends(service, *to)


async def test_whom_one_usually_writes_to_together_is_offered_the_most_often_first(service: Service) -> None:
    await send(service, (ANN, BOB), (ANN, BOB, CARL), (ANN, CARL), (BOB, ANN), (ANN,))
    assert await together(service, ANN) == [BOB, CARL]
    assert await together(service, ANN.upper()) == [BOB, CARL]
    assert await together(service, CARL) == [ANN]  # with Bob once only
    assert await together(service, ANN, BOB) == []
    await send(service, (BOB, CARL))
    assert await together(service, ANN, BOB) == [CARL]


async def test_what_happened_rarely_is_not_offered(service: Service) -> None:
    await send(service, (ANN, BOB), (ANN, BOB), *[(ANN,)] * 5)
    assert await together(service, ANN) == []  # two of seven
    assert await together(service, BOB) == [ANN]


async def test_announcements_and_mail_of_others_say_nothing(service: Service) -> None:
    crowd = tuple(f"guest{number}@sea.example" for number in range(MAX_IN_A_GROUP + 1))
    await send(service, crowd, crowd)
    assert await together(service, crowd[0]) == []
    for _ in range(2):
        await arrives(service, ANN, cc=BOB)
    assert await together(service, ANN) == []
    assert await together(service, "stranger@sea.example") == []
    assert await together(service) == []


async def test_mail_that_was_stored_before_is_learnt_from_as_well(service: Service) -> None:
    crowd = tuple(f"guest{number}@sea.example" for number in range(MAX_IN_A_GROUP + 1))
    await send(service, (ANN, BOB), (ANN, BOB, CARL, MIA), (CARL, ANN.upper()), (ANN,), crowd, crowd)
    await arrives(service, ANN, cc=BOB)
    kept = await service.workspace.store.read(ReadTx.all, PAIRS)
    assert kept
    for before in (
        "delete from people_together where mails < 0",
        "delete from people_together where mails > 1",
        "delete from people_together",
    ):
        for statement in (before, *MET_TOGETHER):
            await service.workspace.store.write(Tx.run, statement)
        assert await service.workspace.store.read(ReadTx.all, PAIRS) == kept
    assert await problems(service) == []


async def test_who_is_let_go_is_offered_no_more_and_all_is_in_order(service: Service) -> None:
    await send(service, (ANN, BOB, CARL), (ANN, BOB, CARL))
    assert set(await together(service, ANN)) == {BOB, CARL}
    assert await problems(service) == []
    await service.workspace.store.write(lambda tx: actions.let_go(tx, owner_id=None, addresses=[BOB]))
    assert await together(service, ANN) == [CARL]
    assert await together(service, BOB) == []


async def test_nobody_hears_whom_others_write_to(service: Service) -> None:
    mia = await sign_in(service, MIA)
    noa = await sign_in(service, NOA, invite=(await mia.mutate("auth.createInvite"))["code"])
    await connect(service, noa, NOA)
    for _ in range(2):
        await sends(mia, ANN, BOB, address=NOA)
    assert [one["address"] for one in await noa.query("people.together", addresses=[ANN])] == [BOB]
    assert await mia.query("people.together", addresses=[ANN]) == []
