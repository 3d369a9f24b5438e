"""Taint: which runs have read text from outside, and which pages they wrote. A run stays tainted.

Owns the tables ``run_trust``, ``page_trust`` and ``page_vouched``. This plane decides on taint, never the model. Pages
that svc itself writes from mail and speech (the features people, rules and meetings) are marked by a trigger, in every
case.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, cast

import msgspec

from svc.store import ReadTx, Tx

DESCRIPTIONS: Final = "the descriptions of the tools of "
"""How a source begins that is only in the prompt: nothing was read yet."""
_WRITERS: Final = frozenset({"people", "rules", "meetings"})
"""The features of svc that write pages from mail and speech; the trigger in ``migrations.py`` names them, too."""


def taint(tx: Tx, run_id: str, *, outside: str) -> None:
    """Mark the run: it has text from outside. The first source is kept, and shown to a person. What was read counts
    before what only describes tools.
    """
    tx.run(
        """
        insert into run_trust (run_id, source, at) values (:id, :source, :now)
        on conflict (run_id) do update set source = excluded.source
            where substr(run_trust.source, 1, :length) = :descriptions
        """,
        id=run_id,
        source=outside[:500],
        now=tx.now,
        length=len(DESCRIPTIONS),
        descriptions=DESCRIPTIONS,
    )


def taint_by_descriptions(tx: Tx, run_id: str, describers: Collection[str]) -> None:
    """Mark a run that has tools of others: it has what they say of these tools in its prompt. A conversation that it
    continues may have had another's.
    """
    before = taint_of(tx, run_id)
    all_of = {*describers} if before is None else {*describers, before}
    if all_of:
        taint(tx, run_id, outside=min(all_of) if len(all_of) == 1 else f"{DESCRIPTIONS}several MCP servers")


def taint_of(tx: ReadTx, run_id: str) -> str | None:
    """The source of the run's text from outside; ``None`` if it has none."""
    return cast("str | None", tx.value("select source from run_trust where run_id = :id", id=run_id))


def taint_page(tx: Tx, page_id: str, *, run_id: str | None) -> None:
    tx.run(
        """
        insert into page_trust (page_id, run_id, at) values (:id, :run, :now)
        on conflict (page_id) do update set run_id = excluded.run_id where page_trust.run_id like 'system:%'
        """,
        id=page_id,
        run=run_id or "",
        now=tx.now,
    )


def page_taint(tx: ReadTx, page_id: str) -> bool:
    """Whether something in the page is from outside: written by a run that had such text, or by svc itself."""
    return _marked_by(tx, page_id) is not None


def written_by_run(tx: ReadTx, page_id: str) -> bool:
    """Whether a run with text from outside has written in the page."""
    by = _marked_by(tx, page_id)
    return by is not None and not by.startswith("system:")


def title_taint(tx: ReadTx, page_id: str) -> bool:
    """Whether the title, too, may be from outside. Rules only add lines to pages, and people choose the titles of
    meetings.
    """
    return _marked_by(tx, page_id) not in {None, "system:rules", "system:meetings"}


def page_mark(tx: ReadTx, page_id: str) -> str | None:
    """The mark in words that mean the same in another home: ``run``, or the feature of svc that wrote it (``people``,
    …).
    """
    by = _marked_by(tx, page_id)
    if by is None or by.startswith("system:"):
        return by and by.removeprefix("system:")
    return "run"


def bring_mark_back(tx: Tx, page_id: str, mark: str) -> None:
    """Restore a mark that :func:`page_mark` gave in another home. An unknown word counts as ``run``, the most careful
    choice.
    """
    taint_page(tx, page_id, run_id=f"system:{mark}" if mark in _WRITERS else None)


def _marked_by(tx: ReadTx, page_id: str) -> str | None:
    return cast("str | None", tx.value("select run_id from page_trust where page_id = :id", id=page_id))


def trust_page(tx: Tx, page_id: str, *, revision: int) -> None:
    """Remove the mark: a person has read this revision, the newest one, and vouches for it and all before it. A trigger
    sets the mark again if an older one is restored.
    """
    if not unvouched(tx, {page_id: revision}):
        return
    tx.run("delete from page_trust where page_id = :id", id=page_id)
    tx.run(
        """
        insert into page_vouched (page_id, revision) values (:id, :revision)
        on conflict (page_id) do update set revision = excluded.revision
        """,
        id=page_id,
        revision=revision,
    )


def unvouched(tx: ReadTx, revisions: Mapping[str, int]) -> frozenset[str]:
    """Which of these pages, each in the given revision, hold text from outside for which no person vouches. Text by a
    person other than the owner counts, even if the owner has changed it since; so does a revision older than the one
    that was vouched for.
    """
    rows = tx.all(
        """
        select key from json_each(:revisions) left join page_vouched v on v.page_id = key
        where key in (select page_id from page_trust) or value < v.revision or exists (
            select 1 from page_revisions r join pages p on p.id = r.page_id
            where r.page_id = key and r.revision > coalesce(v.revision, 0)
                and r.author_id is not null and r.author_id is not p.owner_id
        )
        """,
        revisions=msgspec.json.encode(revisions).decode(),
    )
    return frozenset(str(page_id) for (page_id,) in rows)


def copy_trust(tx: Tx, run_id: str, new_id: str) -> None:
    """Copy the tools, the taint and the calls of a run to the run that continues it. Of the calls, those whose steps it
    has taken over, and as ended: they count for its bound, and none is made again.
    """
    tx.run(
        """
        insert into run_tools (run_id, tools, approvals) select :new, tools, approvals from run_tools where run_id = :id
        """,
        new=new_id,
        id=run_id,
    )
    tx.run(
        "insert into run_trust (run_id, source, at) select :new, source, at from run_trust where run_id = :id",
        new=new_id,
        id=run_id,
    )
    tx.run(
        """
        insert into tool_calls (run_id, key, tool, input, digest, state, at, ended_at)
        select :new, key, tool, input, digest, state, at, ended_at from tool_calls
        where run_id = :id and state in ('done', 'failed')
            and key in (select key from run_steps where run_id = :new)
        """,
        new=new_id,
        id=run_id,
    )
