"""The procedures of connecting: finding the servers of an address, connecting by a password, listing OAuth sign-ins."""

from __future__ import annotations

import msgspec

from svc.errors import Invalid
from svc.formats.writing import ascii_domain
from svc.mail.connecting.connection import Connections
from svc.mail.connecting.passwords import Passwords
from svc.mail.connecting.routes import is_ready, origin_of
from svc.mail.connecting.wire import (
    ConnectedOut,
    ConnectInput,
    DiscoverInput,
    DiscoverOut,
    KeptServersInput,
    KeptServersOut,
    OAuthOut,
    ServerInput,
    ServerOut,
)
from svc.mail.providers.imap.access import Access
from svc.mail.providers.imap.servers import MailServer, checked
from svc.mail.providers.table import Providers
from svc.mail.sync.engine import MailEngine
from svc.protocol import Nothing, Procedure
from svc.workspace import RequestContext, Workspace


async def discover(context: RequestContext, wanted: DiscoverInput) -> DiscoverOut:
    found = await _passwords(context).discover(_address(wanted.address))
    return DiscoverOut(
        imap=_shown(found.imap),
        smtp=_shown(found.smtp),
        username=found.username,
        source=found.source,
        help=found.help,
        sign_in="password" if found.by_password else "oauth",
        oauth=None if found.oauth is None else await _oauth(context.workspace, found.oauth),
    )


async def _oauth(workspace: Workspace, name: str) -> OAuthOut | None:
    connecting = workspace.service(Connections).kinds.get(name)
    if connecting is None:
        return None
    return OAuthOut(
        provider=name,
        service=connecting.kind.terms.service,
        client=connecting.kind.client,
        faked=name not in workspace.service(Providers),
        ready=await is_ready(workspace, connecting),
        redirect_uri=connecting.redirect_uri(origin_of(workspace)),
        scopes=list(connecting.kind.terms.scopes),
    )


async def sign_ins(context: RequestContext, wanted: Nothing) -> list[OAuthOut]:
    kinds = context.workspace.service(Connections).kinds
    found = [await _oauth(context.workspace, name) for name in kinds]
    return [one for one in found if one is not None]


async def kept_servers(context: RequestContext, wanted: KeptServersInput) -> KeptServersOut | None:
    access = await _passwords(context).kept(context.principal, wanted.account_id)
    if access is None:
        return None
    return KeptServersOut(imap=_asked(access.imap), smtp=_asked(access.smtp), username=access.username)


async def connect(context: RequestContext, wanted: ConnectInput) -> ConnectedOut:
    passwords = _passwords(context)
    address = _address(wanted.address)
    imap, smtp, username = wanted.imap, wanted.smtp, wanted.username
    if imap is None or smtp is None:
        found = await passwords.discover(address)
        if not found.by_password:
            raise Invalid(found.help or "This provider takes no passwords.", data={"reason": "oauth_only"})
        imap, smtp = imap or _asked(found.imap), smtp or _asked(found.smtp)
        username = username or found.username
    access = Access(
        imap=_server(imap, "IMAP"),
        smtp=_server(smtp, "SMTP"),
        username=(username or "").strip() or address,
        password=wanted.password,
    )
    account_id = await passwords.connect(context.principal, access, address=address, name=wanted.name)
    await context.workspace.service(MailEngine).start_account(account_id)
    return ConnectedOut(account_id=account_id)


def _passwords(context: RequestContext) -> Passwords:
    return context.workspace.service(Passwords)


def _address(text: str) -> str:
    local, at, domain = text.strip().rpartition("@")
    try:
        name = domain.encode("idna").decode().lower() if domain.isascii() else ascii_domain(domain, address=text)
    except (Invalid, UnicodeError):
        name = ""
    if not (local and at and "." in name.strip(".")) or any(
        one.isspace() or not one.isprintable() for one in text.strip()
    ):
        raise Invalid("This is no mail address.", data={"reason": "address"})
    return f"{local}@{name}"


def _server(wanted: ServerInput, what: str) -> MailServer:
    found = checked(MailServer(host=wanted.host, port=wanted.port, security=wanted.security, pin=wanted.pin))
    if found is None:
        raise Invalid(f"This is no {what} server: name a host and a port.", data={"reason": "server"})
    return found


def _asked(server: MailServer) -> ServerInput:
    return msgspec.convert(msgspec.to_builtins(server), ServerInput)


def _shown(server: MailServer) -> ServerOut:
    return ServerOut(host=server.host, port=server.port, security=server.security)


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="mail.discover",
        kind="query",
        access="authenticated",
        input=DiscoverInput,
        output=DiscoverOut,
        call=discover,
        summary="Where the mail servers of an address are, and how one signs in there.",
    ),
    Procedure(
        name="mail.signIns",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[OAuthOut],
        call=sign_ins,
        summary="The providers that mailboxes are connected at by their own sign-in, and whether each is set up here.",
    ),
    Procedure(
        name="mail.imapServers",
        kind="mutation",  # it reads a secret, and the broker writes a record of each read
        access="authenticated",
        input=KeptServersInput,
        output=KeptServersOut | None,
        call=kept_servers,
        summary="The servers of an account that is connected by a password, to connect it again; never its password.",
    ),
    Procedure(
        name="mail.connectImap",
        kind="mutation",
        access="authenticated",
        input=ConnectInput,
        output=ConnectedOut,
        call=connect,
        summary="Connect a mailbox by a password: tried at both servers before anything is kept.",
    ),
)
