"""The part of the stand-in server that does one thing with all that match: at once, or a part when a test says so."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.web.refusal import Refusal

Rows = list[dict[str, Any]]
PATCHES: dict[str, dict[str, Any]] = {
    "archive": {"inInbox": False},
    "inbox": {"inInbox": True, "snoozedUntil": None},
    "read": {"unread": False},
    "unread": {"unread": True},
    "star": {"starred": True},
    "spam": {"inInbox": False, "hidden": True},
    "trash": {"inInbox": False, "hidden": True},
}
WHAT = {"archive": "archive", "trash": "trash", "spam": "spam", "inbox": "unarchive", "unread": "markUnread"}


@dataclass
class EverythingPart:
    """A part of ``FakeAnswers``, which has ``ordered()``, ``change_all()`` and ``steps``. ``slow``: a step goes on at
    the server until :meth:`finish`.
    """

    chosen: dict[str, Rows] = field(default_factory=dict)
    bulk: dict[str, dict[str, Any]] = field(default_factory=dict)
    untils: dict[str, str] = field(default_factory=dict)
    slow: bool = False
    acting_hook: Callable[[], None] | None = None
    """Called once the running steps are read, before they are answered."""

    def rpc_mail_selectall(self, given: dict[str, Any]) -> Any:
        if given.get("sender") is not None:
            rows = [row for row in self.threads if row["inInbox"]][:2]  # type: ignore[attr-defined]
        elif given.get("query") is not None:
            rows = self.rpc_mail_search({**given, "limit": 10_000})["threads"]  # type: ignore[attr-defined]
        elif given.get("snoozed"):
            rows = [row for row in self.threads if row["snoozedUntil"]]  # type: ignore[attr-defined]
        else:
            wanted = {**given, "limit": 1_000_000}
            rows = self.rpc_mail_threads(wanted)["threads"]  # type: ignore[attr-defined]
        step_id = f"blk_{len(self.chosen)}"
        self.chosen[step_id] = rows
        accounts = sorted({row["accountId"] for row in rows})
        return {"id": step_id, "count": len(rows), "complete": True, "accountIds": accounts, "leftOut": False}

    def rpc_mail_actonall(self, given: dict[str, Any]) -> Any:
        if given["id"] not in self.chosen:
            raise Refusal("NOT_FOUND", 404, "What was chosen is not known any more. Choose again.")
        total = len(self.chosen[given["id"]])
        step = {"id": given["id"], "do": given["do"], "state": "working", "total": total, "taken": 0, "passed": 0}
        self.bulk[given["id"]] = step
        self.untils[given["id"]] = given.get("until", "")
        befores: Rows = [copy.deepcopy(self.thread(row["id"])) for row in self.chosen[given["id"]]]  # type: ignore[attr-defined]
        self.steps.append((WHAT.get(given["do"], "labels"), befores))  # type: ignore[attr-defined]
        if not self.slow:
            self.finish(given["id"])
        return step

    def finish(self, step_id: str, *, passed: int = 0) -> None:
        """The background comes to its end."""
        step = self.bulk[step_id]
        patch = PATCHES.get(step["do"], {})
        if step["do"] == "snooze":
            patch = {"inInbox": False, "snoozedUntil": self.untils[step_id]}
        self.change_all({row["id"]: patch for row in self.chosen[step_id]})  # type: ignore[attr-defined]
        step |= {"state": "done", "taken": step["total"], "passed": passed}
        self.emit("mail", "bulk.changed", step_id, {"step": step})  # type: ignore[attr-defined]

    def rpc_mail_stopacting(self, given: dict[str, Any]) -> Any:
        self.bulk[given["id"]]["state"] = "stopped"
        return self.bulk[given["id"]]

    def rpc_mail_acting(self, given: dict[str, Any]) -> Any:
        answer = [copy.deepcopy(step) for step in self.bulk.values() if step["state"] == "working"]
        if self.acting_hook is not None:
            self.acting_hook()
        return answer
