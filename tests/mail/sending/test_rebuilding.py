"""Where HTML on its way out is worked on: small in a thread, larger in a process, and as text where that gives up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from svc.formats.html import plan
from svc.formats.html.plan import MAX_INLINE_CHARS, MAX_PROCESS_CHARS
from svc.formats.person import Person
from svc.mail.model import Body
from svc.mail.sending.model import Quoted
from svc.mail.sending.rebuilding import MAX_BODY_BLOB_BYTES, REBUILD_DEADLINE_S, Rebuilder
from svc.nursery import WorkerCrashed, WorkerTimeout
from tests.recorded_log import RecordedLog

SMALL = "<p>See <b>this</b></p>"
LARGE = SMALL + " " * MAX_INLINE_CHARS
HUGE = SMALL + " " * MAX_PROCESS_CHARS


@dataclass
class Pool:
    """Runs the call here and notes that it was asked; ``fault`` is raised instead."""

    fault: Exception | None = None
    asked: list[float | None] = field(default_factory=list)

    async def run(self, call: Callable[..., Any], *args: Any, deadline_s: float | None = None) -> Any:
        self.asked.append(deadline_s)
        if self.fault is not None:
            raise self.fault
        return call(*args)


@dataclass
class Shelf:
    """The blob of the original's body."""

    body: Body
    limits: list[int] = field(default_factory=list)

    async def read(self, sha256: str, *, limit: int) -> bytes:
        assert sha256 == "body"
        self.limits.append(limit)
        return msgspec.json.encode(self.body)


@dataclass
class RebuilderParts:
    log: RecordedLog
    threads: Pool = field(default_factory=Pool)
    processes: Pool = field(default_factory=Pool)
    shelf: Shelf = field(default_factory=lambda: Shelf(Body(html=None, text="")))

    def rebuilder(self) -> Rebuilder:
        doors: dict[str, Any] = {"blobs": self.shelf, "threads": self.threads, "processes": self.processes}
        return Rebuilder(**doors, log=self.log)

    def asked(self) -> tuple[int, list[float | None]]:
        return len(self.threads.asked), self.processes.asked


QUOTED = Quoted(
    message_id="msg",
    kind="reply",
    body_sha256="body",
    sender=Person(name="Noa", address="noa@x.example"),
    sent_at=0,
    subject="Plans",
    to=(),
    cc=(),
    inline=(),
)


@pytest.fixture
def parts(log: RecordedLog) -> RebuilderParts:
    return RebuilderParts(log)


def test_the_three_are_what_they_are_taken_for() -> None:
    assert [plan(html) for html in (SMALL, LARGE, HUGE)] == ["inline", "process", "text"]


@pytest.mark.parametrize(
    ("html", "asked", "bold"),
    [(SMALL, (1, []), True), (LARGE, (0, [REBUILD_DEADLINE_S]), True), (HUGE, (1, []), False)],
)
async def test_each_size_has_its_place(
    parts: RebuilderParts, html: str, asked: tuple[int, list[float | None]], bold: bool
) -> None:
    own = await parts.rebuilder().own(html)
    assert "this" in own.html
    assert (parts.asked(), "<b>" in own.html) == (asked, bold)
    parts.shelf.body = Body(html=html, text="See this")
    parts.threads.asked.clear()
    parts.processes.asked.clear()
    quoted = await parts.rebuilder().quoted(QUOTED, images={})
    assert "this" in quoted.html
    assert (parts.asked(), "<b>" in quoted.html) == (asked, bold)
    assert parts.shelf.limits == [MAX_BODY_BLOB_BYTES]


@pytest.mark.parametrize("fault", [WorkerTimeout("too long"), WorkerCrashed("died")])
async def test_what_a_process_gives_up_on_leaves_as_text_and_the_log_says_why(
    parts: RebuilderParts, fault: Exception
) -> None:
    parts.processes.fault = fault
    own = await parts.rebuilder().own(LARGE)
    assert "this" in own.html
    assert "<b>" not in own.html
    assert parts.asked() == (1, [REBUILD_DEADLINE_S])
    (record,) = parts.log.records
    assert (record["event"], record["size"], record["reason"]) == ("mail.rebuild_gave_up", len(LARGE), str(fault))


async def test_an_original_that_a_process_gives_up_on_is_quoted_as_text(parts: RebuilderParts) -> None:
    parts.processes.fault = WorkerTimeout("too long")
    parts.shelf.body = Body(html=LARGE, text="See this")
    quoted = await parts.rebuilder().quoted(QUOTED, images={})
    assert "this" in quoted.html
    assert "<b>" not in quoted.html


async def test_an_original_without_html_is_quoted_by_its_text(parts: RebuilderParts) -> None:
    parts.shelf.body = Body(html=None, text="Plain words")
    assert "Plain words" in (await parts.rebuilder().quoted(QUOTED, images={})).html
