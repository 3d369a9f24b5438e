"""``http.fetch``: one web page, over HTTPS, from a public address. It is a sink, because the URL may carry text out."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from svc.broker import Outside
from svc.errors import Invalid, Unavailable
from svc.formats.text import text_from_html
from svc.inert import inert
from svc.principal import Principal
from svc.protocol.pinned import PinnedFault, pinned_url
from svc.store import ReadTx
from svc.tools.cards import url_rows
from svc.tools.model import MAX_READ_BYTES, CardRow, Outcome, Tool, ToolInput
from svc.workspace import Workspace

OUTSIDE: Final = "the web"
FETCH_S: Final = 20.0
"""The time for one web page. Beyond: it is given up, and the model is told."""
_ACCEPT: Final = "text/html, text/plain;q=0.9, application/json;q=0.9, */*;q=0.1"


class FetchInput(ToolInput, frozen=True):
    url: Annotated[str, msgspec.Meta(min_length=1, max_length=8_000)]


async def _fetch(workspace: Workspace, principal: Principal, wanted: FetchInput) -> Outcome:
    """A redirect is returned and not followed: another address needs another decision."""
    _fetchable(wanted.url)
    try:
        answer = await workspace.service(Outside).pinned.request(
            "GET",
            wanted.url,
            headers={"accept": _ACCEPT},
            body=b"",
            deadline_s=FETCH_S,
            limit_bytes=MAX_READ_BYTES,
        )
    except PinnedFault as fault:
        if fault.kind == "refused":
            raise Invalid(f"The address can't be asked: {fault.detail}.") from None
        raise Unavailable(f"No answer: {fault.detail}.") from None
    kind = (answer.headers.get("content-type") or "").split(";")[0].strip().lower()
    text = answer.body.decode("utf-8", "replace")
    if kind == "text/html":
        text = await workspace.threads.run(text_from_html, text)
    elif "\0" in text:
        text = f"[{len(answer.body)} bytes that are no text]"
    said = {"status": answer.status, "contentType": kind, "text": inert(text)}
    if (location := answer.headers.get("location")) is not None:
        said["location"] = inert(location[:8_000])
    return Outcome(output=said, outside=OUTSIDE)


def _sink(tx: ReadTx, principal: Principal, wanted: FetchInput) -> str | None:
    return "Whoever runs that server learns all that the address says."


def _card(tx: ReadTx, principal: Principal, wanted: FetchInput) -> tuple[CardRow, ...]:
    """Nobody is asked about an address that is never fetched."""
    _fetchable(wanted.url)
    return url_rows(wanted.url)


def _fetchable(url: str) -> None:
    try:
        pinned_url(url)
    except PinnedFault as fault:
        raise Invalid(f"The address can't be asked: {fault.detail}.") from None


TOOLS: Final = (
    Tool(
        name="http.fetch",
        summary="Fetch a page of the web by its https address, as text. Redirects are told, not followed.",
        input=FetchInput,
        level="full",
        perform=_fetch,
        reads_outside=OUTSIDE,
        sink=_sink,
        card=_card,
        keyless=True,
        within_s=FETCH_S + 5,
    ),
)
