"""A running service as ``inside.look`` tells of it: a tree of tasks, a part that crashed, a stall, an error."""

from __future__ import annotations

from typing import Any, Final

from tests.web.fake_mail import at


def _task(depth: int, name: str, waits_in: str, waits_for: str, seconds: float | None) -> dict[str, Any]:
    shown = {"depth": depth, "kind": "task", "name": name, "count": 1, "seconds": seconds, "atLeast": False}
    return {**shown, "waitsIn": waits_in, "waitsFor": waits_for}


def _long(task: dict[str, Any]) -> dict[str, Any]:
    """A task that has not run since the first look."""
    return {**task, "atLeast": True}


def _group(depth: int, kind: str, name: str, count: int) -> dict[str, Any]:
    return {**_task(depth, name, "", "", None), "kind": kind, "count": count}


def _part(name: str, phase: str = "running", restarts: int = 0, error: str = "") -> dict[str, Any]:
    return {"name": name, "phase": phase, "restarts": restarts, "lastError": error}


def _line(name: str, waiting: int, busy: int, most: int) -> dict[str, Any]:
    return {"name": name, "title": f"The queue of {name}", "waiting": waiting, "busy": busy, "most": most}


LOOK: Final[dict[str, Any]] = {
    "at": at(),
    "version": "0.1.0",
    "upSeconds": 7_530.0,
    "memoryBytes": 72_000_000,
    "descriptors": 41,
    "connections": 12,
    "connectionsMost": 10_000,
    "tasks": [
        _long(_task(0, "app.serve", "svc/nursery/root.py:55 run", "Event.wait", 7_529.0)),
        _group(1, "nursery", "nursery", 2),
        _task(2, "mail:acc_1", "svc/nursery/task_group.py:24 open_task_group", "Nursery", 12.0),
        _task(3, "mail.sync.tasks.AccountLoop._poll_for_ever", "svc/nursery/wake.py:23 wait", "Event.wait", 12.0),
        _long(_task(2, "http", "svc/doors/door.py:44 serve_port", "serve_listeners", 0.0)),
        _group(1, "nursery", "nursery", 11),
        _task(2, "_highlevel_serve_listeners", "svc/protocol/wire_input.py:40 receive", "SocketStream", 0.04),
        _group(2, "more", "_highlevel_serve_listeners", 10),
    ],
    "cut": False,
    "parts": [_part("store"), _part("http"), _part("mail:acc_1", "restarting", 3, "OSError: the line broke")],
    "lines": [_line("writes", 0, 0, 1_000), _line("threads", 4, 16, 16), _line("mail-index", 0, 0, 0)],
    "accounts": [
        {"id": "acc_1", "owner": "Mia", "provider": "imap", "state": "waiting", "lastSyncedAt": at(hours=-1)},
        {"id": "acc_2", "owner": "", "provider": "gmail", "state": "caught-up", "lastSyncedAt": None},
    ],
    "stalls": [
        {"at": at(hours=-2), "tookMs": 1_240, "stack": ["svc/formats/text.py:30 words", "svc/mail/wire.py:12 shown"]},
        {"at": at(hours=-3), "tookMs": 118, "stack": []},
    ],
    "troubles": [
        {"at": at(hours=-1), "level": "error", "event": "subsystem.crashed", "detail": "task=mail:acc_1 restarts=2"},
        {"at": at(hours=-2), "level": "warning", "event": "loop.blocked", "detail": "took_ms=1240"},
    ],
}
