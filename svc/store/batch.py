"""Group commit: many actions in one physical transaction, each in its own savepoint.

Owns a job from the moment it leaves the queue until its caller is woken. Runs in a worker thread, so it knows neither
tasks nor subscribers; it leaves its results in the jobs. An action that fails undoes only its own part; a disk fault
undoes the whole batch, because then nobody can say which part is durable.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

import trio

from svc.clock import Millis
from svc.store.faults import Fault, exception_for, fault_of
from svc.store.outbox import OutboxRow
from svc.store.transaction import Tx

T = TypeVar("T")


class Job(Generic[T]):
    """One action that waits for its commit. ``abandoned`` is set by a caller that was cancelled while it queued."""

    __slots__ = ("_result", "abandoned", "action", "done", "error", "now")

    def __init__(self, action: Callable[[Tx], T], *, now: Millis) -> None:
        self.action = action
        self.now = now
        self.done = trio.Event()
        self.abandoned = False
        self.error: Exception | None = None
        self._result: list[T] = []

    def perform(self, tx: Tx) -> Exception | None:
        """Run the action; its error, if it raised one."""
        try:
            self._result.append(self.action(tx))
        except Exception as error:
            self.error = error
        return self.error

    def fail(self, error: Exception) -> None:
        """End with ``error``, unless the action has already failed by itself."""
        if self.error is None:
            self.error = error
        self.done.set()

    def result(self) -> T:
        """Return the action's value, or raise its error. Call it only when the job is done."""
        if self.error is not None:
            raise self.error
        return self._result[0]


class Batch:
    """Several jobs with one common commit."""

    def __init__(self, jobs: Sequence[Job[object]]) -> None:
        self._jobs = jobs
        self._committed = False
        self.emitted: list[OutboxRow] = []
        self.recorded = False
        self.fault: Fault | None = None
        self.cause: BaseException | None = None

    def commit(self, connection: sqlite3.Connection) -> None:
        """Run all actions and commit. Sets ``fault`` when the store has a fault; raises an unexpected error."""
        try:
            connection.execute("begin immediate")
            for job in self._jobs:
                self._perform(connection, job)
            connection.execute("commit")
            self._committed = True
        except _Lost as lost:
            self.fault, self.cause = lost.fault, lost.__cause__
        except sqlite3.IntegrityError as error:
            self.fault, self.cause = "lost", error  # a deferred constraint: no one knows which action broke it
        except sqlite3.Error as error:
            # The commit itself failed: unless the disk is merely full, its outcome is unknown.
            self.fault, self.cause = fault_of(error) or "broken", error
        finally:
            if not self._committed:
                self.emitted.clear()
                self.recorded = False
                _roll_back(connection)

    def settle(self, refusal: Callable[[], Exception]) -> None:
        """Wake every caller with the result of its action, or with ``refusal`` if the batch was never run.

        Called on the thread of the event loop, after publishing.
        """
        for job in self._jobs:
            if self._committed:
                job.done.set()
            elif self.fault is not None:
                job.fail(exception_for(self.fault, self.cause))
            else:
                job.fail(refusal())

    def _perform(self, connection: sqlite3.Connection, job: Job[object]) -> None:
        tx = Tx(connection, now=job.now)
        connection.execute("savepoint job")
        error = job.perform(tx)
        tx.close()
        fault = tx.fault or fault_of(error) or (None if connection.in_transaction else "lost")
        if fault is not None:
            if fault != "lost":
                job.error = None  # not the action's fault: it gets the same error as the others of the batch
            raise _Lost(fault) from tx.cause or error
        if error is None:
            self.emitted += tx.emitted
            self.recorded |= tx.recorded
        else:
            connection.execute("rollback to job")
        connection.execute("release job")


class _Lost(Exception):
    """The whole transaction is rolled back, or must be."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


def _roll_back(connection: sqlite3.Connection) -> None:
    # A rollback that fails leaves no commit record either; if the transaction stays open, the next begin is a fault.
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("rollback")
