"""Actions of a person on their snippets: save, change, delete."""

from __future__ import annotations

from typing import Final

from svc.errors import Conflict, Invalid, NotFound, TooLarge
from svc.formats.text import clean_line
from svc.ids import new_id
from svc.mail.accounts.access import who
from svc.mail.snippets import queries
from svc.mail.snippets.model import MAX_ALL_CHARS, MAX_SNIPPETS, NAME, Snippet, SnippetInput
from svc.mail.snippets.queries import OWN
from svc.principal import Principal
from svc.store import Tx, json_array

NO_SNIPPET: Final = "There is no such snippet."


def save(tx: Tx, principal: Principal, *, snippet_id: str | None, wanted: SnippetInput) -> str:
    """Save a new snippet, or replace the one with that id. Returns the id."""
    if not NAME.fullmatch(wanted.name):
        raise Invalid(
            "The name of a snippet is one word of letters, digits, - and _, and begins with one of the first."
        )
    known = queries.snippets(tx, principal)
    others = [one for one in known if one.id != snippet_id]
    if snippet_id is not None and len(others) == len(known):
        raise NotFound(NO_SNIPPET)
    _check_room(others, wanted)
    snippet_id = snippet_id or new_id("snp")
    _put(tx, snippet_id, owner_id=principal.user_id, wanted=wanted)
    _tell(tx, principal)
    return snippet_id


def bring_back(tx: Tx, *, owner_id: str | None, wanted: SnippetInput) -> None:
    """Restore a snippet from an export, unless its owner has one of that name. Raises :class:`Invalid`."""
    if not NAME.fullmatch(wanted.name):
        raise Invalid(f"{wanted.name!r} is no name of a snippet.")
    known = "select 1 from mail_snippets where owner_id is :owner_id and name_key = :key"
    if tx.value(known, owner_id=owner_id, key=_key(wanted.name)) is None:
        _put(tx, new_id("snp"), owner_id=owner_id, wanted=wanted)


def _put(tx: Tx, snippet_id: str, *, owner_id: str | None, wanted: SnippetInput) -> None:
    tx.run(
        """
        insert into mail_snippets (
            id, owner_id, name, name_key, html, subject, to_addresses, cc_addresses, bcc_addresses, updated_at
        ) values (:id, :owner_id, :name, :key, :html, :subject, :to, :cc, :bcc, :now)
        on conflict (id) do update set name = :name, name_key = :key, html = :html, subject = :subject,
            to_addresses = :to, cc_addresses = :cc, bcc_addresses = :bcc, updated_at = :now
        """,
        id=snippet_id,
        owner_id=owner_id,
        name=wanted.name,
        key=_key(wanted.name),
        html=wanted.html,
        subject=clean_line(wanted.subject),
        to=json_array(wanted.to),
        cc=json_array(wanted.cc),
        bcc=json_array(wanted.bcc),
        now=tx.now,
    )


def delete(tx: Tx, principal: Principal, *, snippet_id: str) -> None:
    if all(one.id != snippet_id for one in queries.snippets(tx, principal)):
        raise NotFound(NO_SNIPPET)
    tx.run(f"delete from mail_snippets where id = :id and {OWN}", id=snippet_id, **who(principal))
    _tell(tx, principal)


def claim(tx: Tx, user_id: str) -> None:
    """Give the snippets that were saved before the server had users to the first admin."""
    tx.run("update mail_snippets set owner_id = :user_id where owner_id is null", user_id=user_id)


def _check_room(others: list[Snippet], wanted: SnippetInput) -> None:
    if any(_key(one.name) == _key(wanted.name) for one in others):
        raise Conflict(f"You have a snippet called {wanted.name} already.")
    if len(others) >= MAX_SNIPPETS:
        raise Conflict(f"There are {MAX_SNIPPETS} snippets already. Delete some first.")
    if sum(len(one.html) for one in others) + len(wanted.html) > MAX_ALL_CHARS:
        raise TooLarge("Your snippets would be too long together. Shorten some, or delete them.")


def _key(name: str) -> str:
    return name.casefold()


def _tell(tx: Tx, principal: Principal) -> None:
    """Let the person's other windows load the snippets again."""
    tx.emit(
        topic="mail",
        kind="snippets.changed",
        id="snippets",
        audience=principal.user_id,
        device_id=principal.device_id,
    )
