"""Decides which list of threads is meant: a section, all mail, or a label, of one account or all, filtered or not.
The SQL is in ``queries`` and ``filtered``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from svc.errors import Invalid, NotFound
from svc.mail.accounts import queries as account_queries
from svc.mail.model import INBOX, OWN_LISTS, SECTIONS, Filter, OwnList, Section, ThreadRow, has_list
from svc.mail.threads import filtered
from svc.mail.threads import queries as thread_queries
from svc.mail.threads.label_queries import label_named, label_of
from svc.mail.threads.queries import Cursor
from svc.mail.threads.wire import ListInput
from svc.principal import Principal
from svc.store import ReadTx


@dataclass(frozen=True, kw_only=True)
class Listing:
    """A list of threads. ``label_ids``: the wanted label's id in each account that has it; ``None`` if the list is not
    by label."""

    account_ids: Sequence[str]
    sections: tuple[Section, ...]
    label_ids: Mapping[str, str] | None
    own_list: OwnList | None
    only: Filter | None

    def page(self, tx: ReadTx, *, cursor: Cursor | None, limit: int) -> list[ThreadRow]:
        """The newest ``limit`` threads after ``cursor``."""
        found = list(self.account_ids if self.label_ids is None else self.label_ids)
        if self.only is not None:
            return filtered.threads(
                tx,
                lists=self._filtered_lists(found),
                only=self.only,
                cursor=cursor,
                limit=limit,
                own_list=self.own_list,
                leading=bool(self.sections),
            )
        if self.sections:
            return thread_queries.threads(tx, account_ids=found, sections=self.sections, cursor=cursor, limit=limit)
        assert self.label_ids is not None
        if self.own_list is not None:
            return thread_queries.threads_written(
                tx, account_ids=found, own_list=self.own_list, cursor=cursor, limit=limit
            )
        return thread_queries.threads_by_label(tx, label_ids=self.label_ids, cursor=cursor, limit=limit)

    def _filtered_lists(self, account_ids: Sequence[str]) -> list[dict[str, filtered.ListName]]:
        if self.sections:
            return [dict.fromkeys(account_ids, filtered.section_list(section)) for section in self.sections]
        if self.own_list is not None:
            return [dict.fromkeys(account_ids, filtered.own_list_name(self.own_list))]
        label_ids = self.label_ids or {}
        return [{account_id: filtered.label_list_name(label_id) for account_id, label_id in label_ids.items()}]


def of(tx: ReadTx, principal: Principal, wanted: ListInput) -> Listing:
    """The list that the input describes. Raises :class:`Invalid` if there is no such list, and :class:`NotFound` for an
    account that the caller may not see, or an unknown label."""
    return among(tx, wanted, _account_ids(tx, principal, wanted.account_id))


def among(tx: ReadTx, wanted: ListInput, account_ids: Sequence[str]) -> Listing:
    """The same, in these accounts only."""
    label_ids = _label_ids(tx, wanted, account_ids)
    return Listing(
        account_ids=account_ids,
        sections=_sections(wanted, label_ids),
        label_ids=label_ids,
        own_list=_own_list(label_ids),
        only=wanted.only,
    )


def _sections(wanted: ListInput, label_ids: Mapping[str, str] | None) -> tuple[Section, ...]:
    """The wanted sections, by name or by label; empty for any other list."""
    if label_ids is None:
        if wanted.section is None:
            raise Invalid("Which threads are wanted? Name a section or a label.")
        return SECTIONS if wanted.section == "all" else (wanted.section,)
    if set(label_ids.values()) == {INBOX}:
        return ("inbox",)
    if not all(map(has_list, label_ids.values())):
        raise Invalid("Threads are not listed by this label.")
    return ()


def _own_list(label_ids: Mapping[str, str] | None) -> OwnList | None:
    """Sent or Drafts, if its label is wanted: these system labels have the same id in all accounts."""
    ids = set(label_ids.values()) if label_ids else set()
    return OWN_LISTS.get(ids.pop()) if len(ids) == 1 else None


def _label_ids(tx: ReadTx, wanted: ListInput, account_ids: Sequence[str]) -> dict[str, str] | None:
    """The wanted label's id in each account that has it; ``None`` when no label is wanted."""
    if wanted.label_id is not None:
        if wanted.account_id is None:
            raise Invalid("A label's id means something only together with its account's.")
        if label_of(tx, wanted.account_id, wanted.label_id) is None:
            raise NotFound("There is no such label.")
        return {wanted.account_id: wanted.label_id}
    if wanted.label_name is None:
        return None
    found = ((account_id, label_named(tx, account_id, wanted.label_name)) for account_id in account_ids)
    return {account_id: label.id for account_id, label in found if label is not None}


def _account_ids(tx: ReadTx, principal: Principal, account_id: str | None) -> Sequence[str]:
    if account_id is None:
        return account_queries.account_ids(tx, principal)
    if account_queries.account_for(tx, principal, account_id=account_id, to="read") is None:
        raise NotFound("There is no such account.")
    return [account_id]
