"""A mail server in memory that follows a script: what it expects to hear, and what it says then."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import trio
import trio.testing

from svc.mail.providers.imap.dialling import Dialler
from svc.mail.providers.imap.faults import unreachable
from svc.mail.providers.imap.servers import MailServer

SERVER = MailServer(host="mail.test", port=993, security="tls")
STARTTLS = MailServer(host="mail.test", port=143, security="starttls")


@dataclass(kw_only=True)
class Wire:
    """The server's end of one connection."""

    stream: trio.abc.HalfCloseableStream
    server: MailServer = SERVER
    client: trio.abc.Stream | None = None
    """The other end, as it is handed out."""
    came: bytearray = field(default_factory=bytearray)
    said: list[str] = field(default_factory=list)
    secured: bool = False

    async def line(self) -> str | None:
        """The next line of the client; ``None`` at the end."""
        while b"\n" not in self.came:
            data = await self.stream.receive_some(4096)
            if not data:
                return None
            self.came += data
        line, _, rest = bytes(self.came).partition(b"\n")
        self.came[:] = rest
        text = line.decode("utf-8", "replace").rstrip("\r")
        self.said.append(text)
        return text

    async def taken(self, size: int) -> bytes:
        """So many bytes of the client."""
        while len(self.came) < size:
            self.came += await self.stream.receive_some(4096)
        data = bytes(self.came[:size])
        del self.came[:size]
        return data

    async def say(self, *lines: str) -> None:
        await self.stream.send_all("".join(f"{line}\r\n" for line in lines).encode())


Script = Callable[[Wire], Awaitable[None]]


@dataclass(kw_only=True)
class ScriptedDialler(Dialler):
    """Each connection is served by the script. TLS is only noted: what was said before it is told from the rest."""

    script: Script
    nursery: trio.Nursery
    private: bool = True
    trust: ssl.SSLContext = field(default_factory=lambda: ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    wires: list[Wire] = field(default_factory=list)
    before_tls: list[str] = field(default_factory=list)
    down: bool = False

    async def open(self, server: MailServer) -> trio.abc.Stream:
        await trio.lowlevel.checkpoint()
        if self.down:
            raise unreachable(str(server))
        ours, theirs = trio.testing.memory_stream_pair()
        wire = Wire(stream=theirs, server=server, client=ours)
        self.wires.append(wire)
        self.nursery.start_soon(self._serve, wire)
        return ours

    async def secure(self, stream: trio.abc.Stream, server: MailServer) -> trio.abc.Stream:  # type: ignore[override]
        await trio.lowlevel.checkpoint()
        (wire,) = (one for one in self.wires if one.client is stream)
        self.before_tls += wire.said
        wire.secured = True
        return stream

    async def _serve(self, wire: Wire) -> None:
        try:
            await self.script(wire)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            await wire.stream.aclose()


def answers(greeting: str, **told: list[str]) -> Script:
    """By command name: the lines that answer it; ``T`` is its tag. Everything else is answered ``OK``."""

    async def serve(wire: Wire) -> None:
        if greeting:
            await wire.say(greeting)
        while (line := await wire.line()) is not None:
            tag, _, rest = line.partition(" ")
            name = rest.partition(" ")[0].upper()
            lines = told.get(name, ["T OK done"])
            if lines == ["hang"]:
                await trio.sleep_forever()
            if lines == ["cut"]:
                return
            await wire.say(*(f"{tag}{one[1:]}" if one.startswith("T ") else one for one in lines))

    return serve
