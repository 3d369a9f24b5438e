"""Gets raw messages from the provider. If one fails, decides whether the provider or the message is the cause.

Theory: a failed call does not say which of the two it was. So a message that came before, the witness, is fetched once
more. If it comes, the provider works, and the failure counts against the message. If it does not come, the provider has
an outage, and the failure counts against no message. A message that failed too often is passed over: it goes to the
failures, and the account goes on without it. The counts are in memory only; the table of failures is stored.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from svc.mail.accounts.failures import Passed
from svc.mail.providers.seam import MessageGone, MessageRef, Provider, ProviderFault, RawMessage, Refused, Unreachable
from svc.mail.sync.memory_budget import MemoryBudget
from svc.nursery import open_task_group

ATTEMPTS_MAX: Final = 5
"""A message is passed over after this many failures that counted against it."""

FAILED_TOGETHER: Final = 6
"""After this many failures without any success, no more messages are fetched until the witness was tried."""

COUNTED_MAX: Final = 10_000
"""The most messages whose failures are counted; beyond that, the oldest count is dropped."""

Witness = Callable[[], Awaitable[str | None]]
"""Returns the id of a message that the provider delivered before, if there is one."""


async def no_witness() -> str | None:
    return None


@dataclass(kw_only=True)
class Got:
    """``doubt``: a fault of single messages that did not come this time. ``outage``: a fault of the whole account or
    provider. ``left``: messages that were not fetched, or not to the end, because there was no room or because all
    calls failed."""

    raws: dict[str, RawMessage] = field(default_factory=dict)
    left: list[MessageRef] = field(default_factory=list)
    passed: list[Passed] = field(default_factory=list)
    doubt: ProviderFault | None = None
    outage: ProviderFault | None = None


@dataclass(kw_only=True)
class Getter:
    """Gets messages of one account."""

    provider: Provider
    _failures: dict[str, int] = field(default_factory=dict)

    async def get(
        self,
        refs: Sequence[MessageRef],
        *,
        budget: MemoryBudget,
        failed_before: Set[str] = frozenset(),
        witness: Witness = no_witness,
    ) -> Got:
        """Gets the first of ``refs``, as many as the ``budget`` has room for, a few at a time; at least one.

        ``failed_before``: messages that are among the failures already; they get one attempt.
        """
        got = Got()
        failed: dict[str, Unreachable] = {}
        settled: set[str] = set()
        self.provider.expect([ref.id for ref in refs])
        async with open_task_group() as nursery:

            async def one(ref: MessageRef) -> None:
                size = 0
                try:
                    raw = got.raws[ref.id] = await self.provider.get(ref.id)
                    size = len(raw.raw)
                except MessageGone:
                    pass  # deleted between the list and now
                except Refused as fault:
                    got.passed.append(_passed(ref.id, fault))
                except Unreachable as fault:
                    failed[ref.id] = fault
                    if not got.raws and len(failed) >= FAILED_TOGETHER:
                        nursery.cancel_scope.cancel()
                except ProviderFault as fault:  # of the whole account: no grant, no quota
                    got.outage = fault
                    nursery.cancel_scope.cancel()
                settled.add(ref.id)
                budget.settle(size)

            for ref in refs:
                if not await budget.reserve():
                    break
                nursery.start_soon(one, ref)
        got.left = [ref for ref in refs if ref.id not in settled]
        for message_id in got.raws:
            self._failures.pop(message_id, None)
        if failed and got.outage is None:
            got.outage = await self._outage(list(failed.values()), got, witness)
        if got.outage is None:
            for message_id, fault in failed.items():
                self._count(message_id, fault, got, again=message_id in failed_before)
        return got

    async def _outage(self, faults: Sequence[Unreachable], got: Got, witness: Witness) -> ProviderFault | None:
        """Fetches the witness, and returns the fault of the provider if it does not come either. Without a witness, one
        failed message may be the only one of the mailbox, so it is no outage; several failures are one.

        The best witness is a message that has just come; the smallest one costs least."""
        sizes = {message_id: len(raw.raw) for message_id, raw in got.raws.items()}
        message_id = min(sizes, key=sizes.__getitem__) if sizes else await witness()
        if message_id is None:
            return faults[0] if len(faults) > 1 else None
        try:
            await self.provider.get(message_id)
        except (MessageGone, Refused):
            return None  # an answer, too: the provider works
        except Unreachable:
            return faults[0]
        except ProviderFault as other:
            return other
        return None

    def _count(self, message_id: str, fault: Unreachable, got: Got, *, again: bool) -> None:
        failures = self._failures.pop(message_id, 0) + 1
        if again or failures >= ATTEMPTS_MAX:
            got.passed.append(_passed(message_id, fault))
            return
        got.doubt = fault
        self._failures[message_id] = failures
        if len(self._failures) > COUNTED_MAX:
            self._failures.pop(next(iter(self._failures)))


def _passed(message_id: str, fault: ProviderFault) -> Passed:
    return Passed(provider_message_id=message_id, step="fetch", reason=fault.detail)
