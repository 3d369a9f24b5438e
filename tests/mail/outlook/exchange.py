"""Exchange Online in memory: two servers that take the tokens of a :class:`Microsoft`, and one empty mailbox."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field

import trio

from svc.mail.providers.imap.servers import MailServer
from tests.mail.imap.scripted_server import Script, ScriptedDialler, Wire
from tests.peers.microsoft import Microsoft

_OFFERED = "CAPABILITY IMAP4 IMAP4rev1 AUTH=PLAIN AUTH=XOAUTH2 SASL-IR UIDPLUS MOVE ID UNSELECT CHILDREN IDLE NAMESPACE"
_TOLD = {
    "CAPABILITY": [f"* {_OFFERED}"],
    "LIST": ['* LIST (\\HasNoChildren) "/" INBOX'],
    "STATUS": ["* STATUS INBOX (MESSAGES 0 UIDNEXT 1 UIDVALIDITY 1)"],
    "SELECT": ["* 0 EXISTS", "* OK [UIDVALIDITY 1] ok", "* OK [UIDNEXT 1] ok"],
    "UID": ["* SEARCH"],
}


@dataclass(kw_only=True)
class Exchange(ScriptedDialler):
    """``closed``: IMAP is switched off. ``not_connected``: as it answers where the token is somebody else's.
    ``sending_off``: SMTP AUTH is switched off."""

    microsoft: Microsoft
    closed: bool = False
    not_connected: bool = False
    sending_off: bool = False
    sign_ins: list[tuple[str, str, bool]] = field(default_factory=list)
    """What for, with which token, and whether it was taken."""
    servers: list[str] = field(default_factory=list)
    script: Script = field(init=False)

    def __post_init__(self) -> None:
        self.script = self._talk

    async def open(self, server: MailServer) -> trio.abc.Stream:
        self.servers.append(str(server))
        return await super().open(server)

    async def hang_up(self) -> None:
        """As it does with sessions whose token has ended."""
        for wire in self.wires:
            await wire.stream.aclose()

    async def _talk(self, wire: Wire) -> None:
        await (self._submission if wire.server.port == 587 else self._imap)(wire)

    def _takes(self, what: str, words: str) -> bool:
        name, _, rest = base64.b64decode(words).decode().partition("\x01")
        token = rest.removeprefix("auth=Bearer ").rstrip("\x01")
        taken = self.microsoft.tokens.get(token) is not None and name.startswith("user=")
        taken = taken and not (self.closed and what == "imap")
        self.sign_ins.append((what, token, taken))
        return taken

    async def _imap(self, wire: Wire) -> None:
        await wire.say("* OK The Microsoft Exchange IMAP4 service is ready.")
        signed_in = False
        while (line := await wire.line()) is not None:
            tag, _, rest = line.partition(" ")
            name, _, words = rest.partition(" ")
            if name == "AUTHENTICATE":
                signed_in = self._takes("imap", words.partition(" ")[2])
                await wire.say(f"{tag} {'OK AUTHENTICATE completed.' if signed_in else 'NO AUTHENTICATE failed.'}")
            elif name == "IDLE":
                await trio.sleep_forever()
            elif name != "CAPABILITY" and self.not_connected:
                await wire.say(f"{tag} BAD User is authenticated but not connected.")
            else:
                assert signed_in or name == "CAPABILITY"
                await wire.say(*_TOLD.get(name, []), f"{tag} OK {name} completed.")

    async def _submission(self, wire: Wire) -> None:
        await wire.say("220 smtp.office365.com Microsoft ESMTP MAIL Service ready")
        while (line := await wire.line()) is not None:
            name, _, words = line.partition(" ")
            if name == "EHLO":
                await wire.say("250-smtp.office365.com Hello", "250-SIZE 157286400", "250-STARTTLS", "250 AUTH XOAUTH2")
            elif name == "STARTTLS":
                await wire.say("220 2.0.0 SMTP server ready")
            elif name == "AUTH" and self.sending_off:
                await wire.say(
                    "535 5.7.139 Authentication unsuccessful, SmtpClientAuthentication is disabled for the Tenant."
                )
            elif name == "AUTH":
                taken = self._takes("smtp", words.partition(" ")[2])
                await wire.say(
                    "235 2.7.0 Authentication successful" if taken else "535 5.7.3 Authentication unsuccessful"
                )
            else:
                await wire.say("221 2.0.0 Bye")
                return
