"""``/openapi.json``, and ``/docs``, which shows it: a page separate from the app, with its own policy.

The viewer is a kept package (``static/package.json``) that only this page loads. It adds styles to the page, which the
app's policy forbids. As in the app, scripts come from this server only, and none is made from text.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from dataclasses import dataclass
from typing import Final

import msgspec

from svc import __version__
from svc.description.openapi import openapi
from svc.protocol import JSON, PAGE, Asset, Request, Response, Route, Says
from svc.settings import PORT, canonical_origin
from svc.surface import Surface
from svc.workspace import RequestContext, Workspace

VIEWER: Final = "vendor/docs/swagger-ui"
_BEGIN: Final = """
      const chosen = localStorage.getItem("svc.theme");
      const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
      document.documentElement.classList.toggle("dark-mode", dark);
      SwaggerUIBundle({
        url: "/openapi.json", dom_id: "#shown", deepLinking: true, docExpansion: "none", filter: true,
        defaultModelsExpandDepth: -1, validatorUrl: null, persistAuthorization: false, displayOperationId: true,
      });
    """
"""Starts the viewer, in the colours that this browser has chosen for the app."""
_BEGIN_HASH: Final = b64encode(hashlib.sha256(_BEGIN.encode()).digest()).decode()
CSP: Final = "; ".join(
    [
        "default-src 'none'",
        f"script-src 'self' 'sha256-{_BEGIN_HASH}'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
_SHOWN: Final = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Routes and procedures - svc</title>
    <link rel="icon" href="{static}/icon.svg">
    <link rel="stylesheet" href="{static}/{viewer}.css">
    <style>
      body {{ margin: 0; font-family: system-ui, sans-serif; }}
      .back-line {{ max-width: 1460px; margin: 0 auto; padding: 16px 20px 0; }}
      .back {{ color: #14626f; }}
      .dark-mode body {{ background: #1c2022; }}
      .dark-mode .back {{ color: #6cc3d0; }}
      #shown .scheme-container, #shown .auth-wrapper {{ display: none; }}
      #shown .info {{ margin: 24px 0; }}
      #shown .operation-filter-input {{ box-sizing: border-box; width: 100%; }}
      #shown .opblock-summary-path {{ word-break: normal; overflow-wrap: anywhere; }}
    </style>
  </head>
  <body>
    <p class="back-line"><a class="back" href="/">Back to svc</a></p>
    <div id="shown"></div>
    <noscript>This page needs JavaScript. The description is at <a href="/openapi.json">/openapi.json</a>.</noscript>
    <script src="{static}/{viewer}.js"></script>
    <script>{begin}</script>
  </body>
</html>
"""


_NOT_FOR_STRANGERS: Final = b"""<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Sign in first - svc</title>
  </head>
  <body>
    <main>
      <h1>Sign in first</h1>
      <p>The routes and procedures of this service are shown to those who are signed in.</p>
      <p><a href="/login?next=/docs">Sign in</a></p>
    </main>
  </body>
</html>
"""


@dataclass(kw_only=True)
class Description:
    """The document of this process, once it was requested."""

    workspace: Workspace
    document: Asset | None = None

    def make(self) -> Asset:
        """Takes a tenth of a second: for a thread."""
        if self.document is None:
            workspace = self.workspace
            origin = canonical_origin(workspace.config, port=workspace.port or workspace.config[PORT])
            encoded = msgspec.json.encode(openapi(workspace.features, version=__version__, origin=origin))
            document = Asset(encoded, JSON)
            document.prepare()
            self.document = document
        return self.document


def build(workspace: Workspace) -> None:
    workspace.provide(Description(workspace=workspace))


async def document(context: RequestContext, request: Request) -> Response:
    description = context.workspace.service(Description)
    made = description.document
    if made is None:
        made = await context.workspace.threads.run(description.make)
    return made.respond(request.headers, extra=[("cache-control", "private, no-cache")])


async def shown(context: RequestContext, request: Request) -> Response:
    static = f"/static/{context.workspace.service(Surface).static.version}"
    page = _SHOWN.format(static=static, viewer=VIEWER, begin=_BEGIN)
    fields = [
        ("content-type", "text/html; charset=utf-8"),
        ("cache-control", "no-cache"),
        ("content-security-policy", CSP),
    ]
    return Response(headers=fields, body=page.encode())


def not_for_strangers(request: Request) -> Response:
    fields = [("content-type", "text/html; charset=utf-8"), ("cache-control", "no-store")]
    return Response(status=401, headers=fields, body=_NOT_FOR_STRANGERS)


ROUTES: Final[tuple[Route[RequestContext], ...]] = (
    Route(
        method="GET",
        path="/openapi.json",
        access="authenticated",
        handle=document,
        summary="Every route and procedure, as OpenAPI 3.1.",
        says=Says(answers={200: JSON, 304: None}),
    ),
    Route(
        method="GET",
        path="/docs",
        access="authenticated",
        handle=shown,
        summary="A page that shows every route and procedure.",
        says=PAGE,
        stranger=not_for_strangers,
    ),
)
