"""Rebuilds the HTML of outgoing mail within a time limit: a person's text, a signature, a quoted stranger's message.

Owns where the work runs: small HTML in a thread, larger HTML in a worker process that is killed at its deadline. HTML
that no parser handles quickly is sent as text. So no mail can hold up the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

import msgspec

from svc.formats.html import plan, text_to_html
from svc.formats.text import text_from_html
from svc.formats.writing import Original, OutgoingHtml, outgoing_html, quote
from svc.log import Log
from svc.mail.model import Body
from svc.mail.sending.model import Quoted
from svc.nursery import ProcessPool, ThreadPool, WorkerCrashed, WorkerTimeout
from svc.store import Blobs

REBUILD_DEADLINE_S: Final = 5.0
MAX_BODY_BLOB_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Rebuilder:
    blobs: Blobs
    threads: ThreadPool
    processes: ProcessPool
    log: Log

    async def own(self, html: str, *, images: Mapping[str, str] = MappingProxyType({})) -> OutgoingHtml:
        """Rebuild what a person composed, which may contain pasted HTML of any kind. ``images``: as in
        :func:`outgoing_html`."""
        how = partial(outgoing_html, html, images=dict(images))
        return await self._budgeted(html, how, partial(_as_text, html))

    async def quoted(self, quoted: Quoted, *, images: Mapping[str, str]) -> OutgoingHtml:
        """Rebuild the quoted original. ``images``: as in :func:`svc.formats.writing.quote`.

        Raises :class:`BlobMissing` or :class:`BlobCorrupt` if the disk has lost its body.
        """
        data = await self.blobs.read(quoted.body_sha256, limit=MAX_BODY_BLOB_BYTES)
        body = msgspec.json.decode(data, type=Body)
        original = Original(
            sender=quoted.sender,
            to=quoted.to,
            cc=quoted.cc,
            subject=quoted.subject,
            sent_at=quoted.sent_at,
            html=body.html,
            text=body.text,
        )
        how = partial(quote, original, kind=quoted.kind, images=dict(images))
        return await self._budgeted(body.html or "", how, partial(how, as_text=True))

    async def _budgeted(
        self, html: str, rebuild: Callable[[], OutgoingHtml], as_text: Callable[[], OutgoingHtml]
    ) -> OutgoingHtml:
        where = plan(html)
        if where == "inline":
            return await self.threads.run(rebuild)
        if where != "text":
            try:
                return await self.processes.run(rebuild, deadline_s=REBUILD_DEADLINE_S)
            except (WorkerTimeout, WorkerCrashed) as fault:
                self.log.warning("mail.rebuild_gave_up", size=len(html), reason=str(fault))
        return await self.threads.run(as_text)


def _as_text(html: str) -> OutgoingHtml:
    return outgoing_html(text_to_html(text_from_html(html)))
