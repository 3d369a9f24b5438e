"""A rule whose page holds text of others does nothing until its owner has read it and says so."""

from __future__ import annotations

from typing import Any, Final

import pytest
import trio

from tests.identity.people import Person, sign_in
from tests.support.service import MIA, RpcError, Service
from tests.tools.tool_runs import call, outcome

SHOP: Final = "---\nwhen: {from: '*'}\nthen: [archive]\n---\n"
STAR: Final = "---\norder: 200\nwhen: {from: '*'}\nthen: [star]\n---\n"
LONGEST_S: Final = 3_600.0


async def acted_on(service: Service, subject: str) -> list[str]:
    """The rules that have done something with a mail of that subject, once all rules have seen it."""
    (thread_id,) = await service.synced(subject)
    with trio.fail_after(LONGEST_S):
        while True:
            if why := await service.query("rules.why", threadId=thread_id):
                return [one["rule"] for one in why]
            await trio.sleep(1)


async def held(service: Service | Person) -> dict[str, bool]:
    return {one["name"]: one["isHeld"] for one in await service.query("rules.list")}


async def test_a_rule_whose_page_holds_text_of_others_waits_for_its_owners_word(service: Service) -> None:
    await service.synced("Known before")
    await service.mutate("pages.save", path="mail-rules/mine", body=STAR)
    await outcome(service, await call(service, "pages.save", tainted=True, path="notes/theirs", body=SHOP))
    await service.mutate("pages.move", path="notes/theirs", to="mail-rules/theirs")
    assert await held(service) == {"theirs": True, "mine": False}
    assert await acted_on(service, "One") == ["mail-rules/mine"]
    for refused in ("rules.apply", "rules.test"):
        with pytest.raises(RpcError, match="text of others"):
            await service.mutate(refused, path="mail-rules/theirs")
    await service.mutate("pages.setTrusted", path="mail-rules/theirs", revision=1)
    assert await held(service) == {"theirs": False, "mine": False}
    assert await acted_on(service, "Two") == ["mail-rules/theirs", "mail-rules/mine"]


async def test_a_persons_word_is_not_for_an_older_text_that_a_broken_page_falls_back_to(service: Service) -> None:
    await service.synced("Known before")
    await service.mutate("pages.save", path="mail-rules/mine", body=STAR)
    await outcome(service, await call(service, "pages.save", tainted=True, path="notes/theirs", body=SHOP))
    await service.mutate("pages.move", path="notes/theirs", to="mail-rules/theirs")
    body: dict[str, Any] = {"path": "mail-rules/theirs", "body": "---\nwhen: nothing\n---\n"}
    await service.mutate("pages.save", **body)
    await service.mutate("pages.setTrusted", path="mail-rules/theirs", revision=2)
    assert [one["inForce"] for one in await service.query("config.problems")] == [False]
    assert await held(service) == {"theirs": True, "mine": False}
    assert await acted_on(service, "One") == ["mail-rules/mine"]


async def test_a_page_whose_text_another_person_wrote_is_no_rule_before_its_owner_says_so(service: Service) -> None:
    mia = await sign_in(service, MIA)
    noa = await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    await mia.mutate("pages.save", path="notes/shared", body="Ours.")
    grants = [{"to": "everyone", "level": "write"}]
    await mia.mutate("pages.setAccess", path="notes/shared", access="explicit", grants=grants)
    await noa.mutate("pages.save", path="notes/shared", body=SHOP)

    async def is_held() -> bool:
        (found,) = (await held(mia)).values()
        trust = await mia.query("pages.trust", path="mail-rules/shared")
        assert trust == {"fromOutside": found, "by": "person" if found else None}
        return bool(found)

    async def use_it(revision: int) -> None:
        await mia.mutate("pages.setTrusted", path="mail-rules/shared", revision=revision)

    await mia.mutate("pages.move", path="notes/shared", to="mail-rules/shared")
    assert await is_held()
    with pytest.raises(RpcError, match="text of others"):
        await mia.mutate("rules.apply", path="mail-rules/shared")
    await mia.mutate("pages.save", path="mail-rules/shared", title="Mine", body=SHOP)
    assert await is_held(), "a change of hers makes it no text of hers"
    await use_it(3)
    assert not await is_held()
    await mia.mutate("pages.save", path="mail-rules/shared", body=STAR)
    assert not await is_held()
    await mia.mutate("pages.move", path="mail-rules/shared", to="notes/shared")
    await noa.mutate("pages.save", path="notes/shared", body="---\nwhen: nothing\n---\n")
    await mia.mutate("pages.move", path="notes/shared", to="mail-rules/shared")
    assert await is_held(), "another has written in it since, though the text in force is hers"
    await use_it(5)
    await mia.mutate("pages.restore", path="mail-rules/shared", revision=2)
    assert await held(mia) == {"shared": True}, "nobody has vouched for the older text alone"
