"""Snippets: kept by a name, changed, thrown away, cleaned like all that may be sent, and nobody else's."""

from __future__ import annotations

from typing import Any

import pytest

from svc.mail.snippets import actions
from svc.mail.snippets.model import MAX_ALL_CHARS, MAX_HTML_CHARS, MAX_SNIPPETS
from svc.principal import Principal
from tests.support.service import RpcError, Service

OWNER = Principal(user_id="usr_m", device_id="dev_m", is_admin=False, via="session")
OTHER = Principal(user_id="usr_o", device_id="dev_o", is_admin=True, via="session")


async def save(service: Service, name: str = "thanks", html: str = "<div>Thanks.</div>", **more: object) -> str:
    return str((await service.mutate("mail.saveSnippet", name=name, html=html, **more))["id"])


async def kept(service: Service) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = await service.query("mail.snippets")
    return found


async def test_a_snippet_is_kept_changed_and_thrown_away(service: Service) -> None:
    snippet = await save(service, subject="Thank you,\n{first name}", to=["Ann <ann@sea.example>"], bcc=["b@x.example"])
    await save(service, "Also")
    assert [one["name"] for one in await kept(service)] == ["Also", "thanks"]
    found = (await kept(service))[1]
    assert (found["subject"], found["to"], found["cc"], found["bcc"]) == (
        "Thank you, {first name}",
        ["Ann <ann@sea.example>"],
        [],
        ["b@x.example"],
    )
    assert await save(service, "thanks2", "<div>Many.</div>", id=snippet) == snippet
    assert [(one["name"], one["html"]) for one in await kept(service)][1] == ("thanks2", "<div>Many.</div>")
    await service.mutate("mail.deleteSnippet", id=snippet)
    assert [one["name"] for one in await kept(service)] == ["Also"]


async def test_two_have_not_the_same_name_in_any_case(service: Service) -> None:
    snippet = await save(service, "Grüße")
    with pytest.raises(RpcError, match="called GRÜSSE already") as refused:
        await save(service, "GRÜSSE")
    assert refused.value.code == "CONFLICT"
    await save(service, "grüsse", id=snippet)


@pytest.mark.parametrize("name", ["two words", "-dash", "_line", "a;b", "a{b}", "<b>", "a\n"])
async def test_a_name_is_one_word(service: Service, name: str) -> None:
    with pytest.raises(RpcError, match="one word"):
        await save(service, name)


async def test_what_is_kept_may_be_shown_and_sent(service: Service) -> None:
    await save(service, html="<div onclick=alert(1)>Hi <script>x</script><a href='javascript:x'>a</a> {date}</div>")
    assert (await kept(service))[0]["html"] == "<div>Hi <span>a</span> {date}</div>"


@pytest.mark.thorough
async def test_there_are_only_so_many_and_only_so_much_of_them(service: Service) -> None:
    text = "a" * (MAX_HTML_CHARS - 100)
    for number in range(MAX_ALL_CHARS // len(text)):
        await save(service, f"long{number}", text)
    with pytest.raises(RpcError, match="too long together"):
        await save(service, "last", text)
    for number in range(len(await kept(service)), MAX_SNIPPETS):
        await save(service, f"short{number}", "")
    with pytest.raises(RpcError, match="300 snippets already"):
        await save(service, "last", "")


async def test_a_person_has_their_own_alone_whoever_else_is_an_admin(service: Service) -> None:
    await service.ask_as(OWNER, "mail.saveSnippet", {"name": "mine", "html": "secret"})
    assert b"secret" in (await service.ask_as(OWNER, "mail.snippets", {})).body
    assert b"secret" not in (await service.ask_as(OTHER, "mail.snippets", {})).body
    (snippet,) = [row[0] for row in await service.rows("select id from mail_snippets")]
    assert (await service.ask_as(OTHER, "mail.deleteSnippet", {"id": snippet})).status == 404
    taking = {"id": snippet, "name": "theirs", "html": ""}
    assert (await service.ask_as(OTHER, "mail.saveSnippet", taking)).status == 404
    assert (await service.ask_as(OTHER, "mail.saveSnippet", {"name": "mine", "html": "other"})).status == 200
    assert await service.rows("select owner_id, html from mail_snippets order by owner_id") == [
        ("usr_m", "secret"),
        ("usr_o", "other"),
    ]


async def test_what_was_kept_before_the_claim_is_the_first_admins(service: Service) -> None:
    await save(service)
    await service.workspace.store.write(actions.claim, "usr_m")
    assert await service.rows("select owner_id from mail_snippets") == [("usr_m",)]


async def test_other_windows_hear_that_they_changed(service: Service) -> None:
    snippet = await save(service)
    await service.mutate("mail.deleteSnippet", id=snippet)
    rows = await service.rows("select kind from outbox where topic = 'mail' order by seq")
    assert [kind for (kind,) in rows] == ["snippets.changed", "snippets.changed"]
