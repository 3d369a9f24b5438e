"""The part of the stand-in server that writes and sends mail: drafts, what is on its way, signatures, people, uploads.

It behaves as the service does in what the web app can tell apart: versions of drafts, one outgoing a draft, holding,
scheduling, taking back. Nothing is ever sent: tests move the states from outside.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote

from tests.web.refusal import Refusal

HOLD_S = 3_600
"""Longer than any machine takes to press Undo."""
OWN = {"mia@ternandtide.example", "hello@ternandtide.example", "mia.tern@post.example"}
PEOPLE: list[dict[str, Any]] = [
    {
        "name": "Jonas Feld",
        "address": "jonas.feld@example.org",
        "title": "Jonas Feld (Harbour)",
        "path": "crm/jonas-feld",
    },
    {"name": "Jona Sand", "address": "jona@sand.example", "title": None, "path": None},
    {"name": "Amara Osei", "address": "amara.osei@example.org", "title": None, "path": None},
    {"name": "Harbour Office", "address": "office@harbour.example", "title": None, "path": None},
]
QUOTED = (
    "<p>On Friday, Jonas Feld wrote:</p><blockquote><p>the council came back: they love the tern silhouettes</p>"
    "</blockquote>"
)
PLAN = {"fileId": "fil_1", "filename": "harbour-wall-elevations.pdf", "mime": "application/pdf", "size": 1_284_311}


def instant(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class ComposePart:
    """A part of ``FakeAnswers``. Tests read and change its dictionaries."""

    drafts: dict[str, dict[str, Any]] = field(default_factory=dict)
    outgoing: dict[str, dict[str, Any]] = field(default_factory=dict)
    origins: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What an outgoing mail was made of, and the draft it became again; the product tells nobody."""
    signatures: dict[str, str] = field(default_factory=dict)
    pictures: dict[str, bytes] = field(default_factory=dict)
    """What was uploaded as a picture, by its address."""
    together: dict[str, list[str]] = field(default_factory=dict)
    """Whom one usually writes to with these addresses."""
    snippets: dict[str, dict[str, Any]] = field(default_factory=dict)
    uploaded: dict[str, dict[str, Any]] = field(default_factory=dict)
    hold_s: float = HOLD_S
    clock_ahead_s: float = 0.0
    """The server's clock before the browser's."""
    made: dict[str, Any] = field(default_factory=dict)
    """What came of each idempotency key of a new draft."""
    refuse_uploads: int = 0
    loses_uploads: bool = False
    """The answers to uploads that are stored break off."""
    """A status to answer uploads with."""
    begun_elsewhere: dict[str, Any] = field(default_factory=dict)
    """The fields of a draft of another program, once it is continued."""
    taken_up: dict[str, str] = field(default_factory=dict)
    reached: str | None = None
    """The address that the next mail to be answered came to; ``None``: its account's."""
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def server_now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.clock_ahead_s)

    def tell_outgoing(self, row: dict[str, Any]) -> None:
        self.emit("tasks", "task.changed", row["id"], {"outgoing": row})  # type: ignore[attr-defined]

    def move_outgoing(self, outgoing_id: str, **patch: Any) -> None:
        """The server got on with it."""
        with self.lock:  # type: ignore[attr-defined]
            self.outgoing[outgoing_id].update(patch)
            self.tell_outgoing(self.outgoing[outgoing_id])

    def add_outgoing(self, *, was: dict[str, Any] | None = None, **fields: Any) -> str:
        """``was``: the draft that it becomes again when it is taken back."""
        row = {
            "id": f"out_{next(self.numbers)}", "accountId": "acc_mia", "to": ["Jonas Feld <jonas.feld@example.org>"],
            "cc": [], "bcc": [], "subject": "The north wall", "sendAt": instant(self.server_now() + timedelta(days=2)),
            "state": "scheduled", "attempts": 0, "lastError": None, "hasAttachments": False,
            "createdAt": instant(self.server_now()), "nextAttemptAt": None, "threadId": None, "messageId": None,
            "by": None,
            **fields,
        }  # fmt: skip
        self.outgoing = {row["id"]: row, **self.outgoing}
        self.origins[row["id"]] = {"was": was} if was else {}
        return str(row["id"])

    def add_draft(self, **fields: Any) -> str:
        draft = {
            "id": f"drf_{next(self.numbers)}", "accountId": "acc_mia", "to": [], "cc": [], "bcc": [], "subject": "",
            "html": "<div><br></div>", "attachments": [], "replyTo": None, "quote": None, "version": 1,
            "fromAddress": None, "notes": [],
            "updatedAt": instant(self.server_now()), **fields,
        }  # fmt: skip
        self.drafts = {draft["id"]: draft, **self.drafts}
        return str(draft["id"])

    def upload(self, name: str, mime: str, body: bytes) -> tuple[int, Any]:
        if self.refuse_uploads:
            return self.refuse_uploads, {"code": "too_large"}
        key = f"fil_up{next(self.numbers)}"
        self.uploaded[key] = {"fileId": key, "filename": unquote(name), "mime": mime, "size": len(body)}
        if mime == "image/png":
            self.pictures[f"/files/{key}/content"] = body
        return 201, {"id": key, "sha256": "0" * 64, "name": unquote(name), "mime": mime, "size": len(body)}

    def picture(self, path: str) -> bytes | None:
        return self.pictures.get(path)

    def rpc_health_ping(self, given: dict[str, Any]) -> Any:
        return {"ok": True, "version": "0", "time": instant(self.server_now())}

    def rpc_people_suggest(self, given: dict[str, Any]) -> Any:
        wanted = given["text"].lower()
        return [one for one in PEOPLE if any(w.startswith(wanted) for w in _words(one))][: given.get("limit", 8)]

    def rpc_people_together(self, given: dict[str, Any]) -> Any:
        found = self.together.get(" ".join(given["addresses"]), [])
        return [one for one in PEOPLE if one["address"] in found]

    def rpc_mail_signature(self, given: dict[str, Any]) -> Any:
        return {"html": self.signatures.get(given["accountId"], "")}

    def rpc_mail_setsignature(self, given: dict[str, Any]) -> Any:
        self.signatures[given["accountId"]] = given["html"]
        return {}

    def add_snippet(self, name: str, html: str, **fields: Any) -> str:
        key = f"snp_{next(self.numbers)}"
        kept = {"subject": "", "to": [], "cc": [], "bcc": [], **fields}
        self.snippets[key] = {"id": key, "name": name, "html": html, "updatedAt": instant(self.server_now()), **kept}
        return key

    def rpc_mail_snippets(self, given: dict[str, Any]) -> Any:
        return sorted(self.snippets.values(), key=lambda one: str(one["name"]))

    def rpc_mail_savesnippet(self, given: dict[str, Any]) -> Any:
        others = [one for one in self.snippets.values() if one["id"] != given.get("id")]
        if any(one["name"] == given["name"] for one in others):
            raise Refusal("CONFLICT", 409, f"You have a snippet called {given['name']} already.")
        self.snippets.pop(given.get("id", ""), None)
        return {"id": self.add_snippet(**{name: value for name, value in given.items() if name != "id"})}

    def rpc_mail_deletesnippet(self, given: dict[str, Any]) -> Any:
        del self.snippets[given["id"]]
        return {}

    def rpc_mail_prepare(self, given: dict[str, Any]) -> Any:
        thread_id = given.get("threadId") or given["messageId"].rpartition("_")[0]
        thread = self.thread(thread_id)  # type: ignore[attr-defined]
        forward = given["kind"] == "forward"
        sender = f"{thread['sender']['name']} <{thread['sender']['address']}>"
        everybody = given["kind"] == "replyAll"
        return {
            "accountId": thread["accountId"],
            "to": [] if forward else [sender],
            "cc": ["Harbour Office <office@harbour.example>"] if everybody else [],
            "subject": f"{'Fwd' if forward else 'Re'}: {thread['subject']}",
            "quote": {
                "messageId": given.get("messageId") or self._newest(thread),
                "kind": "forward" if forward else "reply",
            },
            "quotedHtml": QUOTED,
            "attachments": [PLAN] if forward else [],
            "signature": self.signatures.get(thread["accountId"], ""),
            "fromAddress": self.reached or self._address_of(thread["accountId"]),
        }

    def rpc_mail_drafts(self, given: dict[str, Any]) -> Any:
        kept = ("id", "accountId", "to", "subject", "updatedAt", "replyTo", "notes", "quote")
        return [
            {**{key: one[key] for key in kept}, "snippet": _text(one["html"]), "threadId": _about(one)}
            for one in self.drafts.values()
        ]

    def rpc_mail_draft(self, given: dict[str, Any]) -> Any:
        found = self._draft(given["id"])
        return {**found, "threadId": _about(found)}

    def rpc_mail_savedraft(self, given: dict[str, Any]) -> Any:
        if (key := given.pop("idempotencyKey", None)) is None:
            return self._save_draft(given)
        if key not in self.made:
            self.made[key] = self._save_draft(given)
        return self.made[key]

    def _save_draft(self, given: dict[str, Any]) -> Any:
        known = self._draft(given["id"]) if "id" in given else None
        if known and known["version"] != given.get("version"):
            raise Refusal("CONFLICT", 409, "The draft was changed meanwhile.")
        key = known["id"] if known else f"drf_{next(self.numbers)}"
        version = known["version"] + 1 if known else 1
        others = {one: draft for one, draft in self.drafts.items() if one != key}
        self.drafts = {key: self._composed(given, id=key, version=version), **others}
        return {"id": key, "version": version}

    def rpc_mail_takeupdraft(self, given: dict[str, Any]) -> Any:
        if given["messageId"] not in self.taken_up:
            self.taken_up[given["messageId"]] = self.add_draft(**self.begun_elsewhere)
        return {"draftId": self.taken_up[given["messageId"]]}

    def rpc_mail_deletedraft(self, given: dict[str, Any]) -> Any:
        self._draft(given["id"])
        del self.drafts[given["id"]]
        return {}

    def rpc_mail_send(self, given: dict[str, Any]) -> Any:
        for row in self.outgoing.values():
            if self.origin(row).get("draftId") == given.get("draftId"):
                return _answer(row)
        now = self.server_now()
        send_at = given.get("sendAt") or instant(now + timedelta(seconds=self.hold_s))
        composed = self._composed(given, id=given.get("draftId"), version=1)
        kept = {key: given.get(key, []) for key in ("accountId", "to", "cc", "bcc", "subject")}
        more = {"threadId": given.get("replyTo"), "hasAttachments": bool(given.get("attachments"))}
        state = "scheduled" if "sendAt" in given else "held"
        key = self.add_outgoing(**kept, **more, state=state, sendAt=send_at, was=composed)
        self.origins[key]["draftId"] = given.get("draftId")
        self.drafts.pop(given.get("draftId", ""), None)
        self.tell_outgoing(self.outgoing[key])
        return _answer(self.outgoing[key])

    def rpc_mail_outgoing(self, given: dict[str, Any]) -> Any:
        return list(self.outgoing.values())

    def rpc_mail_cancelsend(self, given: dict[str, Any]) -> Any:
        row = self._outgoing(given["id"], "scheduled", "held", "overdue")
        self.origin(row)["restored"] = self.restore(row)
        row["state"] = "cancelled"
        self.tell_outgoing(row)
        return {}

    def rpc_mail_outgoingdraft(self, given: dict[str, Any]) -> Any:
        return {"draftId": self.origin(self.outgoing[given["id"]]).get("restored")}

    def rpc_mail_reschedule(self, given: dict[str, Any]) -> Any:
        row = self._outgoing(given["id"], "scheduled", "held", "overdue")
        due = given["sendAt"] <= instant(self.server_now())
        row.update(state="transmitting" if due else "scheduled", sendAt=given["sendAt"])
        self.tell_outgoing(row)
        return {}

    def rpc_mail_retrysend(self, given: dict[str, Any]) -> Any:
        row = self._outgoing(given["id"], "failed", "uncertain", "overdue")
        row.update(state="transmitting", lastError=None)
        self.tell_outgoing(row)
        return {}

    def rpc_mail_dismissoutgoing(self, given: dict[str, Any]) -> Any:
        row = self._outgoing(given["id"], "failed", "uncertain")
        del self.outgoing[given["id"]]
        self.emit("tasks", "task.changed", row["id"], {"outgoing": None})  # type: ignore[attr-defined]
        return {"draftId": self.restore(row) if given.get("draft") else None}

    def origin(self, row: dict[str, Any]) -> dict[str, Any]:
        return self.origins[row["id"]]

    def restore(self, row: dict[str, Any]) -> str:
        was = self.origin(row).get("was", {})
        return self.add_draft(**{**was, "id": f"drf_{next(self.numbers)}"})

    def _newest(self, thread: dict[str, Any]) -> str:
        shown = self.rpc_mail_thread({"id": thread["id"]})  # type: ignore[attr-defined]
        return str(shown["messages"][-1]["id"])

    def _address_of(self, account_id: str) -> str:
        (account,) = [one for one in self.accounts if one["id"] == account_id]  # type: ignore[attr-defined]
        return str(account["address"])

    def _draft(self, draft_id: str) -> dict[str, Any]:
        if draft_id not in self.drafts:
            raise Refusal("NOT_FOUND", 404, "There is no such draft.")
        return self.drafts[draft_id]

    def _outgoing(self, outgoing_id: str, *states: str) -> dict[str, Any]:
        row = self.outgoing[outgoing_id]
        if row["state"] not in states:
            raise Refusal("CONFLICT", 409, "It is on its way already.")
        return row

    def _composed(self, given: dict[str, Any], **more: Any) -> dict[str, Any]:
        files = [self.uploaded.get(key) or {**PLAN, "fileId": key} for key in given.get("attachments", [])]
        lists = {key: given.get(key, []) for key in ("to", "cc", "bcc")}
        kept = {key: given.get(key) for key in ("accountId", "subject", "html", "replyTo", "quote", "fromAddress")}
        return {
            **kept, **lists, "attachments": files, "notes": [], "updatedAt": instant(self.server_now()), **more
        }  # fmt: skip


def _about(draft: dict[str, Any]) -> str | None:
    """The thread that a draft is about."""
    quote = draft["quote"]
    return draft["replyTo"] or (quote["messageId"].rpartition("_")[0] if quote else None)


def _answer(row: dict[str, Any]) -> dict[str, Any]:
    return {"outgoingId": row["id"], "state": row["state"], "messageId": None, "sendAt": row["sendAt"]}


def _words(one: dict[str, Any]) -> list[str]:
    return [*one["name"].lower().split(), one["address"]]


def _text(html: str) -> str:
    return "".join(part.partition(">")[2] for part in f">{html}".split("<"))[:80]
