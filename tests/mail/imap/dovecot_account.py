"""A mailbox at Dovecot through the whole service, for tests of what both sides have."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from svc.mail.providers.imap.connection import ImapConnection
from svc.mail.providers.imap.dialling import Dialler
from svc.mail.providers.imap.login import Login
from svc.mail.providers.imap.opening import connected
from svc.mail.providers.imap.provider import ImapProvider
from svc.mail.providers.imap.servers import MailServer
from svc.mail.providers.imap.submission.session import SubmissionSession, signed_in
from svc.mail.sync.engine import MailEngine
from tests.peers.dovecot import ADDRESS, PASSWORD, Dovecot
from tests.support.mailbox import mail
from tests.support.service import Service

ALL_ABILITIES = frozenset[str]()
PLAIN_IMAP = frozenset({"CONDSTORE", "QRESYNC", "ENABLE", "MOVE", "ESEARCH", "LIST-STATUS", "UNSELECT", "LITERAL+"})
"""What is taken away to have a server as it was in 2003, but for UIDPLUS."""


def letter(subject: str, **fields: str) -> bytes:
    """With a Message-ID of its own, as all real mail."""
    name = subject.lower().replace(" ", "-").replace(":", "")
    head = "".join(f"{key.replace('_', '-')}: {value}\r\n" for key, value in fields.items())
    return f"Message-ID: <{name}@mail.test>\r\n{head}".encode() + mail(subject)


@dataclass(kw_only=True)
class DovecotAccount:
    """The service with one account at Dovecot. ``without``: what the server is taken not to be able to do."""

    service: Service
    server: Dovecot
    without: frozenset[str]
    account_id: str = ""
    connections: list[ImapConnection] = field(default_factory=list)

    @property
    def engine(self) -> MailEngine:
        return self.service.workspace.service(MailEngine)

    def provider(self) -> ImapProvider:
        workspace = self.service.workspace
        dialler = Dialler(private=True, trust=self.server.trusted)
        imap = MailServer(host="127.0.0.1", port=self.server.tls_port, security="tls")
        smtp = MailServer(host="127.0.0.1", port=self.server.submission_port, security="starttls")

        async def connect() -> ImapConnection:
            connection = await connected(dialler, imap, Login(username=ADDRESS, secret=PASSWORD))
            connection.able -= self.without
            self.connections.append(connection)
            return connection

        async def sign_in() -> SubmissionSession:
            return await signed_in(dialler, smtp, Login(username=ADDRESS, secret=PASSWORD))

        return ImapProvider(
            account_id=self.account_id,
            address=ADDRESS,
            store=workspace.store,
            blobs=workspace.blobs,
            threads=workspace.threads,
            clock=workspace.clock,
            log=workspace.log,
            connect=connect,
            sign_in=sign_in,
        )

    async def synced(self, times: int = 1) -> None:
        for _ in range(times):
            await self.engine.sync_now(self.account_id)
            (account,) = await self.service.query("mail.accounts")
            assert account["state"] == "caught-up", account

    async def threads(self, section: str = "inbox") -> dict[str, str]:
        found = (await self.service.query("mail.threads", section=section))["threads"]
        return {one["subject"]: one["id"] for one in found}

    async def stored(self) -> dict[str, set[str]]:
        """Every message here: subject with labels. Two with the same subject are a fault."""
        rows = await self.service.rows("select subject, labels from mail_messages")
        assert len({subject for subject, _ in rows}) == len(rows), rows
        return {str(subject): set(json.loads(str(labels))) for subject, labels in rows}

    def there(self, folder: str) -> dict[str, frozenset[str]]:
        return dict(self.server.subjects(folder))

    async def ids(self) -> dict[str, str]:
        return {str(s): str(i) for s, i in await self.service.rows("select subject, id from mail_messages")}


async def begun(dovecot_account: DovecotAccount) -> None:
    await dovecot_account.engine.start_account(dovecot_account.account_id)
    await dovecot_account.synced()
