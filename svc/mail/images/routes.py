"""``GET /mail/proxy-image?url=…``: a remote picture of a mail (spec 1.1, rule 17), and of nothing else.

Only an address that is in a message the caller may read is fetched; any other is 404, so that nobody can scan a network
through this server. This ``GET`` has an effect outside (the sender may learn of it), so requests that come from pages
of other sites are refused, as if they could change something.
"""

from __future__ import annotations

from typing import Final

from svc.errors import Invalid, NotFound
from svc.mail.images import queries
from svc.mail.images.proxy import ImageProxy
from svc.protocol import Request, Response, Route, Says, Wire
from svc.workspace import RequestContext

CACHE_CONTROL: Final = "private, max-age=86400"
"""Browsers keep a picture for a day, so that its sender does not learn that it is seen again."""


class ImageQuery(Wire, frozen=True):
    """``url``: the address of an image in a mail that the caller may read."""

    url: str


async def proxy_image(context: RequestContext, request: Request) -> Response:
    url = request.query().get("url")
    if url is None:
        raise Invalid("Which image? Name it as `url`.")
    if not await context.workspace.store.read(queries.stands_in_readable_mail, context.principal, url=url):
        raise NotFound("There is no such image in your mail.")
    picture = await context.workspace.service(ImageProxy).fetch(context.principal, url)
    return Response(
        headers=[
            ("content-type", picture.mime),
            ("content-disposition", "inline"),
            ("cache-control", CACHE_CONTROL),
            ("vary", "cookie"),
            ("content-security-policy", "sandbox; default-src 'none'"),
        ],
        body=picture.data,
    )


ROUTES: tuple[Route[RequestContext], ...] = (
    Route(
        method="GET",
        path="/mail/proxy-image",
        access="authenticated",
        has_effect=True,
        handle=proxy_image,
        summary="A remote image of a mail that the caller may read, fetched over HTTPS by this server.",
        says=Says(query=ImageQuery, answers={200: "image/*"}),
    ),
)
