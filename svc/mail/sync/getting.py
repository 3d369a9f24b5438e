"""Raw messages from the provider; and where one does not come, whose fault that is: the provider's or its own.

Theory: a call that fails does not say which of the two it was. So a message that came before is asked for once more,
the witness. If it comes, the provider is there, and the failure counts against the message; if it does not, nothing can
be had at the moment, and it counts against nobody. A message that failed too often is passed over: it goes to the
failures, and the account goes on without it. Failures are counted while the process lives; the table of failures stays.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from svc.mail.accounts.failures import Passed
from svc.mail.providers.seam import MessageGone, MessageRef, Provider, ProviderFault, RawMessage, Refused, Unreachable
from svc.mail.sync.room import Room
from svc.nursery import open_task_group

ATTEMPTS_MAX: Final = 5
"""So often a message is asked for, while others come, until it is passed over."""

FAILED_TOGETHER: Final = 6
"""So many failures without a message that came: nothing more is asked for until the witness was heard."""

COUNTED_MAX: Final = 10_000
"""Messages whose failures are remembered; of more, the oldest begin anew."""

Witness = Callable[[], Awaitable[str | None]]
"""A message of the account that the provider gave before, if there is one."""


async def no_witness() -> str | None:
    return None


@dataclass(kw_only=True)
class Got:
    """``doubt``: why some did not come this time, each of them alone. ``outage``: why nothing could be had any more.
    ``left``: what was not asked for, or not to the end, because there was no room or because all that was asked for
    failed."""

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
        room: Room,
        failed_before: Set[str] = frozenset(),
        witness: Witness = no_witness,
    ) -> Got:
        """The first of ``refs``, as many as there is ``room`` for, a few at a time; at least one.

        Those that ``failed_before`` are among the failures: they get one attempt.
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
                except ProviderFault as fault:  # the whole account's: no grant, no quota
                    got.outage = fault
                    nursery.cancel_scope.cancel()
                settled.add(ref.id)
                room.settle(size)

            for ref in refs:
                if not await room.reserve():
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
        """What the witness meets, if it does not come either. Where there is none, one message that fails may be alone
        in the mailbox; several that all fail are not each broken.

        Who has just come is the best witness; the smallest of them costs least."""
        sizes = {message_id: len(raw.raw) for message_id, raw in got.raws.items()}
        message_id = min(sizes, key=sizes.__getitem__) if sizes else await witness()
        if message_id is None:
            return faults[0] if len(faults) > 1 else None
        try:
            await self.provider.get(message_id)
        except (MessageGone, Refused):
            return None  # that, too, is an answer
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
