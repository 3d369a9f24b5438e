"""The inputs and outputs of the procedures of connecting."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from svc.protocol.rows import Wire

Security = Literal["tls", "starttls"]
Address = Annotated[str, msgspec.Meta(min_length=3, max_length=320)]
Port = Annotated[int, msgspec.Meta(ge=1, le=65_535)]
Host = Annotated[str, msgspec.Meta(min_length=1, max_length=253)]
Password = Annotated[str, msgspec.Meta(min_length=1, max_length=1_024)]
Username = Annotated[str, msgspec.Meta(min_length=1, max_length=320)]


# Inputs


class ServerInput(Wire, frozen=True):
    """``pin``: the SHA-256 of the only certificate that is accepted from this server."""

    host: Host
    port: Port
    security: Security
    pin: Annotated[str, msgspec.Meta(max_length=200)] | None = None


class DiscoverInput(Wire, frozen=True):
    address: Address


class ConnectInput(Wire, frozen=True):
    """Servers and user name that are not given are looked up. ``name``: the name in ``From`` beside the address."""

    address: Address
    password: Password
    name: str | None = None
    imap: ServerInput | None = None
    smtp: ServerInput | None = None
    username: Username | None = None

    def __repr__(self) -> str:
        return f"ConnectInput(address={self.address!r})"


# Outputs


class ServerOut(Wire, frozen=True):
    host: str
    port: int
    security: Security


class OAuthOut(Wire, frozen=True):
    """``ready``: whether an OAuth client is set on this server, as the credential ``client``. ``redirect_uri`` and
    ``scopes``: the values that the client needs at the provider. ``faked``: fakes replace every provider, and no real
    account is connected."""

    provider: str
    service: str
    client: str
    ready: bool
    faked: bool
    redirect_uri: str
    scopes: list[str]


class DiscoverOut(Wire, frozen=True):
    """``help``: what a person has to know or do at the provider. ``sign_in``: "oauth" where passwords are not accepted;
    ``oauth`` then says how to connect instead. With "password", ``oauth`` is a second way."""

    imap: ServerOut
    smtp: ServerOut
    username: str
    source: Literal["preset", "autoconfig", "srv", "guess"]
    help: str | None
    sign_in: Literal["password", "oauth"]
    oauth: OAuthOut | None = None


class KeptServersInput(Wire, frozen=True):
    account_id: str


class KeptServersOut(Wire, frozen=True):
    """The servers of a mailbox that is connected by a password, in the form that :class:`ConnectInput` takes."""

    imap: ServerInput
    smtp: ServerInput
    username: str


class ConnectedOut(Wire, frozen=True):
    account_id: str
