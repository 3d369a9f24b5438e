"""An SMTP server that keeps what it gets, for tests: where a submission server hands mails on, or stands for one.

with relay() as kept:
    kept.port, kept.mails
"""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

DEADLINE_S: Final = 60.0


@dataclass(frozen=True, kw_only=True)
class Mail:
    sender: str
    recipients: tuple[str, ...]
    raw: bytes


@dataclass(kw_only=True)
class Relay:
    """``refuses``: recipients that it does not take, with its answer. ``talks``: a thread for each connection."""

    port: int
    mails: list[Mail] = field(default_factory=list)
    refuses: dict[str, str] = field(default_factory=dict)
    talks: list[threading.Thread] = field(default_factory=list)

    def settle(self) -> None:
        """Wait until all clients have disconnected, and forget the mails."""
        while self.talks:
            self.talks.pop().join(DEADLINE_S)
        self.mails.clear()
        self.refuses.clear()


@contextmanager
def relay() -> Iterator[Relay]:
    kept = Relay(port=0)

    class Talk(socketserver.StreamRequestHandler):
        timeout = DEADLINE_S

        def handle(self) -> None:
            kept.talks.append(threading.current_thread())
            with suppress(OSError):  # who asked went away
                _serve(self, kept)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Talk) as server:
        server.daemon_threads = True
        kept.port = int(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield kept
        finally:
            server.shutdown()
            thread.join()


def _serve(talk: socketserver.StreamRequestHandler, kept: Relay) -> None:
    def say(line: str) -> None:
        talk.wfile.write(line.encode() + b"\r\n")

    sender, recipients = "", list[str]()
    say("220 relay.test ESMTP")
    while line := talk.rfile.readline():
        word, _, rest = line.decode("utf-8", "replace").strip().partition(" ")
        match word.upper():
            case "EHLO":
                say("250-relay.test")
                say("250-8BITMIME")
                say("250 SMTPUTF8")
            case "MAIL":
                sender, recipients = _address(rest), []
                say("250 2.1.0 OK")
            case "RCPT":
                address = _address(rest)
                if address in kept.refuses:
                    say(kept.refuses[address])
                else:
                    recipients.append(address)
                    say("250 2.1.5 OK")
            case "DATA":
                say("354 Go on")
                raw = b"".join(one.removeprefix(b".") for one in iter(talk.rfile.readline, b".\r\n"))
                kept.mails.append(Mail(sender=sender, recipients=tuple(recipients), raw=raw))
                say("250 2.0.0 Taken")
            case "QUIT":
                say("221 2.0.0 Bye")
                return
            case _:
                say("250 2.0.0 OK")


def _address(words: str) -> str:
    return words.partition("<")[2].partition(">")[0]
