"""Opens TLS connections to mail servers. The server proves its identity before any command is sent.

A name is resolved once, and the connection goes to one of the addresses that were checked. If private addresses are not
allowed (a public cell), all addresses of a name must be public. The certificate must be trusted by the system for the
name, or match a given pin. If a pin does not match, the fault carries the certificate, so that the user can check it.
"""

from __future__ import annotations

import hashlib
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import trio

from svc.mail.providers.imap.faults import MailServerFault, unreachable
from svc.mail.providers.imap.servers import Certificate, MailServer
from svc.protocol.addresses import is_public_address

CONNECT_S: Final = 10.0
"""For one address."""
HANDSHAKE_S: Final = 20.0
RESOLVE_S: Final = 20.0
MAX_ADDRESSES_TRIED: Final = 3
MAX_NAME_CHARS: Final = 200

Tls = trio.SSLStream[trio.abc.Stream]


def _new_trust() -> ssl.SSLContext:
    return ssl.create_default_context()


@dataclass(kw_only=True)
class Dialler:
    """``private``: whether connections to private networks, and to this machine itself, are allowed."""

    private: bool
    trust: ssl.SSLContext = field(default_factory=_new_trust)

    async def open(self, server: MailServer) -> trio.abc.Stream:
        """A connection without TLS yet. Raises :class:`MailServerFault`."""
        for address in (await self._addresses(server))[:MAX_ADDRESSES_TRIED]:
            with trio.move_on_after(CONNECT_S):
                try:
                    return await trio.open_tcp_stream(address, server.port)
                except OSError:
                    continue
        raise unreachable(str(server))

    async def secure(self, stream: trio.abc.Stream, server: MailServer) -> Tls:
        """Starts TLS over ``stream``, and closes it on failure. Raises :class:`MailServerFault`, mostly
        ``tls_failed``."""
        context = self.trust if server.pin is None else _trusting_nobody()
        tls = trio.SSLStream(stream, context, server_hostname=server.host, https_compatible=True)
        try:
            with trio.move_on_after(HANDSHAKE_S) as scope:
                await tls.do_handshake()
            if scope.cancelled_caught:
                raise MailServerFault("unreachable", f"{server} began no secret connection in time.")
            if server.pin is not None and _sha256(_shown_by(tls)) != server.pin:
                raise MailServerFault(
                    "tls_failed",
                    f"{server} shows another certificate than the one that was accepted for it.",
                    certificate=_described(_shown_by(tls)),
                )
        except trio.BrokenResourceError as fault:
            await trio.aclose_forcefully(tls)
            raise _tls_fault(server, fault) from None
        except BaseException:
            await trio.aclose_forcefully(tls)
            raise
        return tls

    async def _addresses(self, server: MailServer) -> Sequence[str]:
        found: list[str] = []
        with trio.move_on_after(RESOLVE_S):
            try:
                answers = await trio.socket.getaddrinfo(server.host, server.port, type=socket.SOCK_STREAM)
                found = list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in answers))
            except (OSError, UnicodeError):
                pass
        if not found or not (self.private or all(map(is_public_address, found))):
            raise unreachable(str(server))  # one sentence for both, so nobody can probe the names of this network
        return found


def _tls_fault(server: MailServer, fault: trio.BrokenResourceError) -> MailServerFault:
    cause = fault.__cause__
    if isinstance(cause, ssl.SSLCertVerificationError):
        why = cause.verify_message or "it is not trusted"
        return MailServerFault("tls_failed", f"The certificate of {server} does not prove who it is: {why}.")
    if isinstance(cause, ssl.SSLError):
        return MailServerFault(
            "tls_failed", f"{server} speaks no TLS there. Perhaps the port or the kind of security is another one."
        )
    return MailServerFault("unreachable", f"{server} ended the connection at its very beginning.")


def _trusting_nobody() -> ssl.SSLContext:
    """A context for a connection whose certificate our own code checks before any command is sent."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _shown_by(tls: Tls) -> bytes:
    shown = tls.getpeercert(binary_form=True)
    return shown if isinstance(shown, bytes) else b""


def _sha256(certificate: bytes) -> str:
    return hashlib.sha256(certificate).hexdigest()


def _described(certificate: bytes) -> Certificate | None:
    from cryptography import x509  # late import: it is large, and needed only for a certificate that is not trusted

    try:
        read = x509.load_der_x509_certificate(certificate)
        return Certificate(
            sha256=_sha256(certificate),
            subject=read.subject.rfc4514_string()[:MAX_NAME_CHARS],
            issuer=read.issuer.rfc4514_string()[:MAX_NAME_CHARS],
            not_after=read.not_valid_after_utc.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        )
    except ValueError:
        return None
