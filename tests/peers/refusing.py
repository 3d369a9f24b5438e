"""A server that speaks S3 and refuses all that is asked of it, for tests: with a status and a code of its choice.

with refusing(403, "AccessDenied") as port:
    …
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

_PIECE: Final = 64 * 1024


@contextmanager
def refusing(status: int, code: str) -> Iterator[int]:
    answer = f"<Error><Code>{code}</Code><Message>It is refused</Message></Error>".encode()

    class Refuses(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _refuse(self) -> None:
            left = int(self.headers.get("content-length", "0"))
            while left > 0 and (piece := self.rfile.read(min(left, _PIECE))):
                left -= len(piece)
            self.send_response(status)
            self.send_header("content-type", "application/xml")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _refuse  # noqa: N815  the names are the library's

        def log_message(self, format: str, *values: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refuses)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
