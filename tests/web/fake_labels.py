"""The part of the stand-in server that labels, snoozes, takes back and finds: as much as the web app can tell apart.

A step is remembered as the rows before it, and taken back by putting them in place again. The search knows words and
``from:``; what else it is asked for it says it did not understand.
"""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.web import fake_mail
from tests.web.refusal import Refusal

MOST_SNOOZED = 500
SYSTEM = {"INBOX": "Inbox", "UNREAD": "Unread", "STARRED": "Starred", "SENT": "Sent", "SPAM": "Spam", "TRASH": "Trash"}
Rows = list[dict[str, Any]]


@dataclass
class LabelPart:
    """A part of ``FakeAnswers``, which has ``threads``, ``accounts``, ``thread()`` and ``change()``."""

    labels: Rows = field(default_factory=fake_mail.labels)
    steps: list[tuple[str, Rows]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    meant: dict[str, str] = field(default_factory=dict)
    """What a search offers, by what was typed."""
    label_numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(10))
    found_pages: Rows = field(default_factory=fake_mail.found_pages)
    found_files: Rows = field(default_factory=fake_mail.found_files)
    search_hook: Callable[[str], None] = field(default=lambda query: None)

    def step(self, what: str, thread_ids: list[str], change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        before = [copy.deepcopy(self.thread(one)) for one in thread_ids]  # type: ignore[attr-defined]
        for row in before:
            self.change(row["id"], **change(row))  # type: ignore[attr-defined]
        self.steps.append((what, before))

    def rpc_mail_labels(self, given: dict[str, Any]) -> Any:
        return self.labels

    def rpc_mail_createlabel(self, given: dict[str, Any]) -> Any:
        label = {"id": f"Label_{next(self.label_numbers)}", "name": given["name"]}
        more = {"accountId": given["accountId"], "system": False, "color": given.get("color")}
        self.labels.append({**label, **more})
        return label

    def rpc_mail_setlabels(self, given: dict[str, Any]) -> Any:
        def change(row: dict[str, Any]) -> dict[str, Any]:
            named = {one["name"]: one["id"] for one in self.labels if one["accountId"] == row["accountId"]}
            add = [*given.get("add", []), *(named.get(name, name) for name in given.get("addNames", []))]
            names = [name for name in given.get("removeNames", []) if name in named]
            remove = [*given.get("remove", []), *(named[name] for name in names)]
            unknown = {*add, *remove} - set(SYSTEM) - self.ids(row["accountId"])
            if unknown:
                raise Refusal("BAD_REQUEST", 400, f"No such label: {unknown}")
            return self.relabelled(row, add, remove)

        to = given.get("add", [])
        what = "trash" if "TRASH" in to else "spam" if "SPAM" in to else "labels"
        self.step(what, given["threadIds"], change)
        return {}

    def ids(self, account: str) -> set[str]:
        return {one["id"] for one in self.labels if one["accountId"] == account}

    def relabelled(self, row: dict[str, Any], add: list[str], remove: list[str]) -> dict[str, Any]:
        named = {one["id"]: one for one in self.labels if one["accountId"] == row["accountId"]}
        kept = [one for one in row["labels"] if one["id"] not in {*add, *remove}]
        for one in add:
            known = named.get(one) or {"name": SYSTEM.get(one, one), "color": None}
            kept.append({"id": one, "name": known["name"], "color": known["color"]})
        ids = {one["id"] for one in kept}
        hidden = bool(ids & {"SPAM", "TRASH"})
        unread = row["unread"] if "UNREAD" not in {*add, *remove} else "UNREAD" in add
        starred = row["starred"] if "STARRED" not in {*add, *remove} else "STARRED" in add
        inbox = row["inInbox"] if "INBOX" not in {*add, *remove} else "INBOX" in add
        return {"labels": kept, "hidden": hidden, "unread": unread, "starred": starred, "inInbox": inbox and not hidden}

    def rpc_mail_snooze(self, given: dict[str, Any]) -> Any:
        until = given["until"]
        self.step("snooze", given["threadIds"], lambda row: {"inInbox": False, "snoozedUntil": until})
        return {}

    def rpc_mail_unsnooze(self, given: dict[str, Any]) -> Any:
        self.step("unsnooze", given["threadIds"], lambda row: {"inInbox": True, "snoozedUntil": None})
        return {}

    def rpc_mail_snoozed(self, given: dict[str, Any]) -> Any:
        found = [one for one in self.threads if one["snoozedUntil"]]  # type: ignore[attr-defined]
        found.sort(key=lambda one: str(one["snoozedUntil"]))
        return [{"thread": one, "until": one["snoozedUntil"]} for one in found[:MOST_SNOOZED]]

    def rpc_mail_undo(self, given: dict[str, Any]) -> Any:
        if not self.steps:
            return {"undone": None}
        what, before = self.steps.pop()
        self.change_all({row["id"]: row for row in before})  # type: ignore[attr-defined]
        ids = [row["id"] for row in before]
        return {"undone": {"id": str(len(self.steps)), "what": what, "threadIds": ids, "draftId": None}}

    def rpc_mail_search(self, given: dict[str, Any]) -> Any:
        self.search_hook(given["query"])
        words = [one.lower() for one in given["query"].split()]
        rows: Rows = self.threads  # type: ignore[attr-defined]
        account = given.get("accountId")
        found = [{**row, "match": _match(row, words)} for row in rows if _has(row, words)]
        found = [row for row in found if account in (None, row["accountId"]) and not row["hidden"]]
        begin = int(given.get("cursor", 0))
        end = begin + given.get("limit", 50)
        more = str(end) if end < len(found) else None
        meant = self.meant.get(given["query"])
        return {"threads": found[begin:end], "nextCursor": more, "notices": self.notices, "didYouMean": meant}

    def rpc_pages_find(self, given: dict[str, Any]) -> Any:
        words = given.get("text", "").lower().split()
        found = [one for one in self.found_pages if all(w in f"{one['title']} {one['snippet']}".lower() for w in words)]
        return found[: given.get("limit", 5)]

    def rpc_files_find(self, given: dict[str, Any]) -> Any:
        words = given.get("text", "").lower().split()
        return [one for one in self.found_files if all(word in one["name"].lower() for word in words)]

    def rpc_triage_get(self, given: dict[str, Any]) -> Any:
        return {"enabled": False, "asksModel": False, "learned": []}

    def rpc_mcp_servers(self, given: dict[str, Any]) -> Any:
        return []

    def rpc_pages_trust(self, given: dict[str, Any]) -> Any:
        return {"fromOutside": False, "by": None}

    def rpc_models_usage(self, given: dict[str, Any]) -> Any:
        none = {"calls": 0, "inputTokens": 0, "outputTokens": 0, "usd": 0}
        return {
            "model": "fake",
            "vendor": "a",
            "problem": "",
            "price": {"input": 0, "output": 0},
            "ceilings": {"dayUsd": 10, "runUsd": 2, "dayTokens": 1},
            "today": none,
            "month": none,
            "everybody": None,
        }

    def rpc_models_ofrun(self, given: dict[str, Any]) -> Any:
        spent = {"calls": 1, "inputTokens": 0, "outputTokens": 0, "usd": 0.0123}
        return {"spent": spent, "ceilingUsd": 2}

    def rpc_rules_suggestions(self, given: dict[str, Any]) -> Any:
        return []

    def rpc_agents_list(self, given: dict[str, Any]) -> Any:
        return []

    def rpc_pages_tree(self, given: dict[str, Any]) -> Any:
        page = {"kind": "page", "access": "inherited", "canWrite": True, "hasChildren": False}
        return [{**page, "id": "pag_1", "path": "crm/jonas-feld", "title": "Jonas Feld", "updatedAt": fake_mail.at()}]


def _has(row: dict[str, Any], words: list[str]) -> bool:
    sender = f"{row['sender']['name']} {row['sender']['address']}".lower()
    text = f"{sender} {row['subject']} {row['snippet']}".lower()
    known = {"is:unread": row["unread"], "has:attachment": row["hasAttachments"], "is:starred": row["starred"]}
    return all(_is(word, sender, text, known) for word in words)


def _is(word: str, sender: str, text: str, known: dict[str, bool]) -> bool:
    if word.startswith("from:"):
        return word[5:] in sender
    if word.startswith(("after:", "before:", "newer_than:", "in:", "account:", "to:me")):
        return True
    return known.get(word, word in text)


def _match(row: dict[str, Any], words: list[str]) -> dict[str, Any]:
    plain = [re.escape(word) for word in words if ":" not in word]
    parts = re.split(f"({'|'.join(plain)})", row["snippet"], flags=re.IGNORECASE) if plain else [row["snippet"]]
    snippet = [{"text": part, "hit": index % 2 == 1} for index, part in enumerate(parts) if part]
    return {"messageId": f"{row['id']}_0", "snippet": snippet}
