"""The servers of an address are found by what is known, by what its domain says, or by the usual names."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import dns.asyncresolver
import dns.message
import dns.rrset
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from svc.mail.providers.imap.discovery import autoconfig
from svc.mail.providers.imap.discovery.discovering import Discovery
from svc.mail.providers.imap.discovery.model import Found
from svc.mail.providers.imap.discovery.names import SystemNames, Target
from svc.mail.providers.imap.discovery.presets import PRESETS, by_domain
from svc.mail.providers.imap.faults import unreachable
from svc.mail.providers.imap.login import without_copied_spaces
from svc.mail.providers.imap.servers import MailServer, checked
from svc.nursery import open_task_group
from tests.mail.imap.scripted_server import ScriptedDialler, answers

CONFIG = b"""<?xml version="1.0"?>
<clientConfig version="1.1"><emailProvider id="example.org"><domain>example.org</domain>
  <incomingServer type="pop3"><hostname>pop.example.org</hostname><port>995</port><socketType>SSL</socketType>
    <username>%EMAILADDRESS%</username><authentication>password-cleartext</authentication></incomingServer>
  <incomingServer type="imap"><hostname>plain.example.org</hostname><port>143</port><socketType>plain</socketType>
    <username>%EMAILADDRESS%</username><authentication>password-cleartext</authentication></incomingServer>
  <incomingServer type="imap"><hostname>in.%EMAILDOMAIN%</hostname><port>993</port><socketType>SSL</socketType>
    <username>%EMAILLOCALPART%</username><authentication>OAuth2</authentication>
    <authentication>password-cleartext</authentication></incomingServer>
  <outgoingServer type="smtp"><hostname>out.example.org</hostname><port>587</port><socketType>STARTTLS</socketType>
    <username>%EMAILADDRESS%</username><authentication>password-cleartext</authentication></outgoingServer>
</emailProvider></clientConfig>"""
CONFIGURED = Found(
    imap=MailServer(host="in.example.org", port=993, security="tls"),
    smtp=MailServer(host="out.example.org", port=587, security="starttls"),
    username="mia",
    source="autoconfig",
)


@dataclass
class WebAndDns:
    """The web and the DNS, as far as they matter. ``slow``: no server answers."""

    documents: Mapping[str, bytes] = field(default_factory=dict)
    mx: Mapping[str, Sequence[str]] = field(default_factory=dict)
    srv: Mapping[str, Sequence[Target]] = field(default_factory=dict)
    slow: bool = False
    asked: list[str] = field(default_factory=list)

    async def fetch(self, url: str) -> bytes | None:
        self.asked.append(url)
        await trio.sleep(3_600 if self.slow else 0)
        return self.documents.get(url)

    async def exchangers(self, domain: str) -> Sequence[str]:
        await trio.sleep(3_600 if self.slow else 0)
        return self.mx.get(domain, ())

    async def services(self, name: str) -> Sequence[Target]:
        await trio.sleep(3_600 if self.slow else 0)
        return self.srv.get(name, ())


@dataclass(kw_only=True)
class Guessed(ScriptedDialler):
    """Only these servers are there."""

    there: frozenset[str] = frozenset()

    async def open(self, server: MailServer) -> trio.abc.Stream:
        if str(server) not in self.there:
            await trio.sleep(1)
            raise unreachable(str(server))
        return await super().open(server)


Make = Callable[..., Discovery]


@pytest.fixture
async def discovery() -> AsyncIterator[Make]:
    async with open_task_group() as nursery:

        def make(network: WebAndDns, *there: str, greeting: str = "* OK ready") -> Discovery:
            dialler = Guessed(script=answers(greeting), nursery=nursery, there=frozenset(there))
            return Discovery(fetch=network.fetch, names=network, dialler=dialler)

        yield make
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("address", "imap", "username"),
    [
        ("mia@gmail.com", "imap.gmail.com:993", "mia@gmail.com"),
        ("mia@Yahoo.co.uk", "imap.mail.yahoo.com:993", "mia@Yahoo.co.uk"),
        ("mia@icloud.com", "imap.mail.me.com:993", "mia@icloud.com"),
        ("mia@web.de", "imap.web.de:993", "mia"),
        ("mia@zohomail.eu", "imap.zoho.eu:993", "mia@zohomail.eu"),
        ("mia@yandex.com.tr", "imap.yandex.com:993", "mia@yandex.com.tr"),
        ("mia@bk.ru", "imap.mail.ru:993", "mia@bk.ru"),
        ("mia@posteo.net", "posteo.de:993", "mia@posteo.net"),
        ("mia@proton.me", "127.0.0.1:1143", "mia@proton.me"),
    ],
)
async def test_the_large_providers_are_known_and_nobody_is_asked(
    discovery: Make, address: str, imap: str, username: str
) -> None:
    network = WebAndDns(slow=True)
    found = await discovery(network).find(address)
    assert (str(found.imap), found.username, found.source) == (imap, username, "preset")
    assert found.help
    assert network.asked == []


@pytest.mark.parametrize("address", ["mia@outlook.com", "mia@hotmail.co.uk", "mia@live.de"])
async def test_microsoft_is_said_to_take_no_passwords(discovery: Make, address: str) -> None:
    found = await discovery(WebAndDns()).find(address)
    assert found.oauth == "outlook"
    assert found.help is not None
    assert "Microsoft" in found.help


async def test_a_domain_of_ones_own_at_a_known_provider_is_known_by_who_takes_its_mail(discovery: Make) -> None:
    network = WebAndDns(
        mx={
            "office.test": ["office-test.mail.protection.outlook.com"],
            "fast.test": ["in1-smtp.messagingengine.com"],
            "own.test": ["mx.own.test"],
            "india.test": ["mx.zoho.in"],
            "evil.test": ["notgoogle.com"],
        }
    )
    assert (await discovery(network).find("mia@office.test")).oauth == "outlook"
    assert str((await discovery(network).find("mia@fast.test")).imap) == "imap.fastmail.com:993"
    assert str((await discovery(network).find("mia@india.test")).imap) == "imappro.zoho.in:993"
    assert (await discovery(network).find("mia@own.test")).source == "guess"
    assert (await discovery(network).find("mia@evil.test")).source == "guess"


async def test_a_domain_says_where_its_servers_are(discovery: Make) -> None:
    for url in autoconfig.addresses_of("mia@example.org"):
        assert await discovery(WebAndDns(documents={url: CONFIG})).find("mia@example.org") == CONFIGURED


async def test_a_domain_says_it_in_the_dns(discovery: Make) -> None:
    network = WebAndDns(
        srv={
            "_imap._tcp.example.org": [Target(host="late.example.org", port=143)],
            "_imaps._tcp.example.org": [Target(host="mail.example.org", port=993)],
            "_submission._tcp.example.org": [Target(host="mail.example.org", port=587)],
        }
    )
    found = await discovery(network).find("mia@example.org")
    assert (str(found.imap), str(found.smtp), found.smtp.security) == (
        "mail.example.org:993",
        "mail.example.org:587",
        "starttls",
    )
    assert found.source == "srv"


@pytest.mark.parametrize("way", ["autoconfig", "srv"])
async def test_a_domain_that_names_a_known_providers_servers_means_that_provider(discovery: Make, way: str) -> None:
    """Whatever it says of passwords, and where it says nothing of them."""
    document = b"""<clientConfig version="1.1"><emailProvider id="acme.test">
      <incomingServer type="imap"><hostname>outlook.office365.com</hostname><port>993</port>
        <socketType>SSL</socketType><authentication>OAuth2</authentication></incomingServer>
      <outgoingServer type="smtp"><hostname>smtp.office365.com</hostname><port>587</port>
        <socketType>STARTTLS</socketType><authentication>OAuth2</authentication></outgoingServer>
    </emailProvider></clientConfig>"""
    network = WebAndDns(
        documents={autoconfig.addresses_of("mia@acme.test")[0]: document} if way == "autoconfig" else {}
    )
    if way == "srv":
        network.srv = {
            "_imaps._tcp.acme.test": [Target(host="outlook.office365.com", port=993)],
            "_submission._tcp.acme.test": [Target(host="smtp.office365.com", port=587)],
        }
    found = await discovery(network).find("mia@acme.test")
    assert (found.oauth, found.source) == ("outlook", "preset")
    assert found.help is not None
    other = document.replace(b"office365.com", b"example.org")
    assert autoconfig.read(other, "mia@acme.test") is None


async def test_the_usual_names_are_tried_and_what_answers_is_proposed(discovery: Make) -> None:
    found = await discovery(WebAndDns(), "mail.example.org:993").find("mia@example.org")
    assert (str(found.imap), str(found.smtp), found.source) == ("mail.example.org:993", "smtp.example.org:465", "guess")


async def test_where_nobody_answers_something_is_proposed_all_the_same_and_soon(discovery: Make) -> None:
    began_s = trio.current_time()
    found = await discovery(WebAndDns(slow=True)).find("mia@example.org")
    assert str(found.imap) == "imap.example.org:993"
    assert trio.current_time() - began_s <= 20


def test_every_preset_names_servers_that_may_be_connected_to() -> None:
    for preset in PRESETS:
        assert checked(preset.imap) == preset.imap
        assert checked(preset.smtp) == preset.smtp
        assert preset.domains or preset.exchangers
    assert by_domain("example.org") is None


def test_a_server_of_a_name_with_a_sharp_s_is_not_the_one_of_a_name_with_ss() -> None:
    server = checked(MailServer(host="imap.Stra\N{LATIN SMALL LETTER SHARP S}e.example", port=993, security="tls"))
    assert server is not None
    assert server.host == "imap.xn--strae-oqa.example"


@pytest.mark.parametrize(
    ("copied", "plain"),
    [
        ("abcd\N{NO-BREAK SPACE}efgh\N{NO-BREAK SPACE}ijkl\N{NO-BREAK SPACE}mnop ", "abcdefghijklmnop"),
        ("abcd-efgh-ijkl-mnop\n", "abcd-efgh-ijkl-mnop"),
        ("a  horse on a boat", "a  horse on a boat"),
    ],
)
def test_the_spaces_that_are_copied_with_a_password_are_left_out(copied: str, plain: str) -> None:
    assert without_copied_spaces(copied) == plain


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"<clientConfig/>",
        b"not xml",
        CONFIG[:-40],
        CONFIG.replace(b"<clientConfig", b'<!DOCTYPE x [<!ENTITY a "b">]><clientConfig', 1),
        CONFIG.replace(b"in.%EMAILDOMAIN%", b"a b"),
        CONFIG.replace(b">993<", b">99999<"),
        CONFIG.replace(b"STARTTLS", b"plain"),
        CONFIG.replace(b"<authentication>password-cleartext</authentication>", b"<authentication>x</authentication>"),
        CONFIG + b" " * autoconfig.MAX_BYTES,
    ],
)
def test_what_is_not_whole_or_names_nothing_of_use_is_nothing(document: bytes) -> None:
    assert autoconfig.read(document, "mia@example.org") is None


@given(st.binary(max_size=300))
def test_any_document_is_read_or_nothing(document: bytes) -> None:
    autoconfig.read(document, "mia@example.org")


ZONE = """
example.org. 60 IN MX 20 late.example.org.
example.org. 60 IN MX 10 first.example.org.
_imaps._tcp.example.org. 60 IN SRV 5 1 993 b.example.org.
_imaps._tcp.example.org. 60 IN SRV 5 9 993 A.example.org.
_imap._tcp.example.org. 60 IN SRV 0 0 0 .
"""


@pytest.mark.wall_clock
async def test_the_dns_is_asked_and_what_it_does_not_know_is_nothing() -> None:
    async def serve(socket: trio.socket.SocketType) -> None:
        while True:
            packet, peer = await socket.recvfrom(2_048)
            query = dns.message.from_wire(packet)
            question = query.question[0]
            wanted = [line for line in ZONE.splitlines() if line.startswith(f"{question.name} ")]
            records = [line.split(" ", 4) for line in wanted if f" {question.rdtype.name} " in line]
            answer = dns.message.make_response(query)
            if records:
                texts = [record[4] for record in records]
                answer.answer.append(dns.rrset.from_text_list(question.name, 60, "IN", question.rdtype, texts))
            await socket.sendto(answer.to_wire(), peer)

    socket = trio.socket.socket(trio.socket.AF_INET, trio.socket.SOCK_DGRAM)
    await socket.bind(("127.0.0.1", 0))
    port = int(socket.getsockname()[1])

    def resolver() -> dns.asyncresolver.Resolver:
        made = dns.asyncresolver.Resolver(configure=False)
        made.nameservers, made.port = ["127.0.0.1"], port
        return made

    names = SystemNames(resolver=resolver)
    async with open_task_group() as nursery:
        nursery.start_soon(serve, socket)
        assert await names.exchangers("example.org") == ["first.example.org", "late.example.org"]
        assert [one.host for one in await names.services("_imaps._tcp.example.org")] == [
            "a.example.org",
            "b.example.org",
        ]
        assert await names.services("_imap._tcp.example.org") == []
        assert await names.services("_submissions._tcp.example.org") == []
        assert await names.exchangers("not..a name") == []
        nursery.cancel_scope.cancel()
    socket.close()
