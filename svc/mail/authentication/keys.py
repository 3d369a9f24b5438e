"""The public DKIM keys of senders: looked up in the DNS, and stored in the database until they expire.

Each query has a deadline and each answer a size limit, because a stranger's name server may answer. The resolver
library is imported with the first query.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

import trio

from svc.clock import Millis
from svc.mail.authentication import actions, queries
from svc.store import Store

ANSWER_S: Final = 3.0
MAX_RECORD_BYTES: Final = 8 * 1024
"""A record is cut at this size. A key of 4,096 bits takes less than one KiB."""

Record = tuple[bytes | None, Millis]
"""The record of a name (``None``: there is none), and how many milliseconds it holds."""


class NoAnswer(Exception):
    """The DNS gave no answer, so it is not known whether there is such a record."""


class TextRecords(Protocol):
    """Looks up TXT records in the DNS."""

    async def text(self, name: str) -> Record:
        """The record of type TXT under a name, its pieces joined. Raises :class:`NoAnswer`."""
        ...


class SystemRecords:
    """Looks up records with the resolvers of this machine."""

    async def text(self, name: str) -> Record:
        import dns.asyncresolver
        import dns.exception
        import dns.resolver

        try:
            resolver = dns.asyncresolver.Resolver()
            answer = await resolver.resolve(f"{name}.", "TXT", lifetime=ANSWER_S, search=False)
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return None, 0
        except (dns.exception.DNSException, OSError, ValueError) as fault:
            raise NoAnswer from fault
        record = b"".join(next(iter(answer)).strings)
        ttl = answer.rrset.ttl if answer.rrset is not None else 0
        return record[:MAX_RECORD_BYTES], ttl * 1_000


@dataclass(kw_only=True)
class SigningKeys:
    """``records`` looks up the keys; tests and fakes pass their own."""

    store: Store
    records: TextRecords

    async def of(self, names: Iterable[str]) -> dict[str, bytes | None]:
        """The records of these names. A name without an answer within :data:`ANSWER_S` is left out."""
        wanted = list(names)
        found = await self.store.read(queries.kept_keys, names=wanted)
        asked: dict[str, Record] = {}
        with trio.move_on_after(ANSWER_S):
            async with trio.open_nursery() as nursery:
                for name in wanted:
                    if name not in found:
                        nursery.start_soon(self._ask, name, asked)
        if asked:
            await self.store.write(actions.keep_keys, records=asked)
        return found | {name: record for name, (record, _) in asked.items()}

    async def _ask(self, name: str, asked: dict[str, Record]) -> None:
        try:
            asked[name] = await self.records.text(name)
        except NoAnswer:
            return
