"""The search for an address's servers. Each way of searching has a deadline, and there is always a proposal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

import trio

from svc.mail.providers.imap.dialling import Dialler
from svc.mail.providers.imap.discovery import autoconfig, presets
from svc.mail.providers.imap.discovery.model import Found
from svc.mail.providers.imap.discovery.names import Names, by_services
from svc.mail.providers.imap.faults import MailServerFault
from svc.mail.providers.imap.opening import greeted
from svc.mail.providers.imap.servers import MailServer
from svc.mail.providers.imap.submission.session import greeted_by
from svc.nursery import open_task_group

WAY_S: Final = 8.0
"""The deadline of each way (MX, autoconfig, SRV); they run at the same time."""
GUESSES_S: Final = 10.0

Fetch = Callable[[str], Awaitable[bytes | None]]
"""Gets a document of the public web by its URL; ``None`` if there is none."""


@dataclass(frozen=True, kw_only=True)
class Discovery:
    fetch: Fetch
    names: Names
    dialler: Dialler

    async def find(self, address: str) -> Found:
        """``address``: must have an @ and a domain. If nothing is found, the result has the usual names, untested."""
        domain = address.rpartition("@")[2].lower()
        if (known := presets.by_domain(domain)) is not None:
            return known.found(address)
        said: dict[str, Found] = {}
        async with open_task_group() as nursery:
            for way in (self._hosted, self._configured, self._served):
                nursery.start_soon(self._try, way, address, said)
        for way in (self._hosted, self._configured, self._served):
            if (found := said.get(way.__name__)) is not None:
                known = presets.by_server(found.imap.host)
                return found if known is None else known.found(address)
        return await self._guessed(address)

    async def _try(self, way: Callable[[str], Awaitable[Found | None]], address: str, said: dict[str, Found]) -> None:
        with trio.move_on_after(WAY_S):
            found = await way(address)
            if found is not None:
                said[getattr(way, "__name__", "")] = found

    async def _hosted(self, address: str) -> Found | None:
        """For a user's own domain at a known provider."""
        preset = presets.by_exchangers(await self.names.exchangers(address.rpartition("@")[2]))
        return None if preset is None else preset.found(address)

    async def _configured(self, address: str) -> Found | None:
        for url in autoconfig.addresses_of(address):
            document = await self.fetch(url)
            found = None if document is None else autoconfig.read(document, address)
            if found is not None:
                return found
        return None

    async def _served(self, address: str) -> Found | None:
        return await by_services(self.names, address)

    async def _guessed(self, address: str) -> Found:
        """Tries the usual names, the most usual first, and takes the first that answers correctly."""
        domain = address.rpartition("@")[2]
        imaps = [presets.tls(f"{name}.{domain}", presets.IMAPS) for name in ("imap", "mail")]
        smtps = [
            server
            for name in ("smtp", "mail")
            for server in (
                presets.tls(f"{name}.{domain}", presets.SUBMISSIONS),
                MailServer(host=f"{name}.{domain}", port=presets.SUBMISSION, security="starttls"),
            )
        ]
        answered: set[MailServer] = set()
        with trio.move_on_after(GUESSES_S):
            async with open_task_group() as nursery:
                for server in imaps:
                    nursery.start_soon(self._note_imap, server, answered)
                for server in smtps:
                    nursery.start_soon(self._note_smtp, server, answered)
        return Found(imap=_first_of(imaps, answered), smtp=_first_of(smtps, answered), username=address, source="guess")

    async def _note_imap(self, server: MailServer, answered: set[MailServer]) -> None:
        try:
            connection = await greeted(self.dialler, server)
        except MailServerFault:
            return
        await connection.aclose()
        answered.add(server)

    async def _note_smtp(self, server: MailServer, answered: set[MailServer]) -> None:
        try:
            session = await greeted_by(self.dialler, server)
        except MailServerFault:
            return
        await session.aclose()
        answered.add(server)


def _first_of(servers: Sequence[MailServer], answered: set[MailServer]) -> MailServer:
    return next((one for one in servers if one in answered), servers[0])
