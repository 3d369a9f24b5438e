"""The Gmail provider and the OAuth client against the Google emulator: a program we did not write, over sockets."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import pytest
import trio

from svc.clock import WallClock
from svc.connections import (
    Grant,
    GrantRefused,
    OAuthEndpoints,
    Tokens,
    TokenSource,
    authorization_url,
    exchange_code,
)
from svc.identity import ClientCredentials, Discovery
from svc.mail.providers.gmail.grant import GMAIL_TERMS
from svc.mail.providers.gmail.provider import GmailProvider
from svc.mail.providers.gmail.quota import QuotaLimiter
from svc.mail.providers.seam import (
    GrantLost,
    HistoryChange,
    HistoryExpired,
    LostAnswer,
    MessageGone,
    Refused,
    Throttled,
    Unreachable,
)
from svc.mail.providers.tokens import MailboxTokens
from svc.protocol.egress import Egress
from tests.formats.mime.corpus import paths
from tests.peers.emulator import CLIENT_ID, CLIENT_SECRET, Google, google
from tests.peers.needs import CORPUS, EMULATOR, needs

pytestmark = [pytest.mark.peer, pytest.mark.wall_clock, needs(EMULATOR)]

ALICE = "alice@acme.test"
BOB = "bob@acme.test"
REDIRECT_URI = "http://127.0.0.1:4780/oauth/mail/callback"
VERIFIER = "v" * 43
CLIENT = ClientCredentials(client_id=CLIENT_ID, client_secret=CLIENT_SECRET)
HARD_MAIL = b"From: \xe9ve <eve@x.test>\r\nSubject: =?gb2312?B?xOO6w6Ohxxx\r\n\r\nbare\nLF \x00\xff and no end"


@pytest.fixture(scope="module")
def peer() -> Iterator[Google]:
    with google(users=[ALICE, BOB], redirect_uris=[REDIRECT_URI]) as running:
        yield running


@pytest.fixture
def emulator(peer: Google) -> Iterator[Google]:
    """The emulator, healthy, with both mailboxes empty."""
    peer.heal()
    for address in (ALICE, BOB):
        for message_id in peer.message_ids(address):
            peer.delete(address, message_id)
    yield peer
    peer.heal()


@pytest.fixture
async def egress() -> AsyncIterator[Egress]:
    async with Egress() as client:
        yield client


@dataclass
class KeptTokens:
    tokens: Tokens | None
    saved: int = 0

    async def load(self) -> Tokens | None:
        return self.tokens

    async def save(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.saved += 1


@dataclass
class Connection:
    """An account, from the consent screen on."""

    egress: Egress
    emulator: Google
    client: ClientCredentials = CLIENT
    endpoints: OAuthEndpoints = field(init=False)
    store: KeptTokens = field(default_factory=lambda: KeptTokens(None))

    def __post_init__(self) -> None:
        discovery = Discovery(http=self.egress, clock=WallClock(), issuer=self.emulator.base)
        self.endpoints = OAuthEndpoints(discovery=discovery)

    async def consent(self, address: str) -> str:
        """The code that a consent as ``address`` ends with."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
        url = authorization_url(
            await self.endpoints.endpoints(),
            GMAIL_TERMS,
            client_id=CLIENT_ID,
            redirect_uri=REDIRECT_URI,
            state="st&te",
            code_challenge=challenge,
            login_hint=address,
        )
        location = urlsplit(self.emulator.authorize(url, address))
        assert f"{location.scheme}://{location.netloc}{location.path}" == REDIRECT_URI
        query = parse_qs(location.query)
        assert query["state"] == ["st&te"]
        return query["code"][0]

    async def redeem(self, code: str, *, verifier: str = VERIFIER) -> Grant:
        return await exchange_code(
            self.egress,
            await self.endpoints.endpoints(),
            GMAIL_TERMS,
            credentials=self.client,
            code=code,
            code_verifier=verifier,
            redirect_uri=REDIRECT_URI,
            clock=WallClock(),
        )

    async def mailbox(self, address: str = ALICE) -> GmailProvider:
        self.store.tokens = (await self.redeem(await self.consent(address))).tokens
        return GmailProvider(
            address=address,
            base_url=self.emulator.base,
            http=self.egress,
            tokens=MailboxTokens(source=self.token_source()),
            quota=QuotaLimiter(units_per_minute=1_000_000),
            clock=WallClock(),
        )

    def token_source(self) -> TokenSource:
        async def client() -> ClientCredentials:
            return self.client

        return TokenSource(
            store=self.store,
            terms=GMAIL_TERMS,
            client=client,
            endpoints=self.endpoints.endpoints,
            http=self.egress,
            clock=WallClock(),
        )


@pytest.fixture
def connection(egress: Egress, emulator: Google) -> Connection:
    return Connection(egress, emulator)


# Consent and tokens


async def test_a_consent_ends_in_tokens_and_an_identity(connection: Connection) -> None:
    grant = await connection.redeem(await connection.consent(ALICE))
    assert grant.identity is not None
    assert (grant.identity.email, grant.identity.email_verified) == (ALICE, True)
    assert grant.tokens.scopes == frozenset(GMAIL_TERMS.scopes)


async def test_a_code_is_good_once_and_only_with_its_verifier(connection: Connection) -> None:
    code = await connection.consent(ALICE)
    with pytest.raises(GrantRefused) as caught:
        await connection.redeem(code, verifier="w" * 43)
    assert caught.value.cause == "code-rejected"
    await connection.redeem(code)
    with pytest.raises(GrantRefused):
        await connection.redeem(code)


async def test_a_wrong_client_secret_is_named_as_such(connection: Connection) -> None:
    code = await connection.consent(ALICE)
    connection.client = ClientCredentials(client_id=CLIENT_ID, client_secret="wrong")
    with pytest.raises(GrantRefused) as caught:
        await connection.redeem(code)
    assert caught.value.cause == "client-rejected"


async def test_expired_tokens_of_many_callers_are_renewed_once(connection: Connection, emulator: Google) -> None:
    mailbox = await connection.mailbox()
    await mailbox.profile()
    emulator.expire_tokens()
    before = len(emulator.requests())
    async with trio.open_nursery() as nursery:
        for _ in range(12):
            nursery.start_soon(mailbox.profile)
    assert sum("/oauth2/token" in line for line in emulator.requests()[before:]) == 1
    assert connection.store.saved == 1


async def test_a_grant_the_user_took_back_is_lost_and_a_new_consent_mends_it(
    connection: Connection, emulator: Google
) -> None:
    mailbox = await connection.mailbox()
    emulator.revoke_grants()
    with pytest.raises(GrantLost, match="revoked"):
        await mailbox.profile()
    await connection.mailbox()  # consents anew, into the same store
    assert (await mailbox.profile()).address == ALICE


async def test_a_rotated_client_secret_is_used_without_a_restart(connection: Connection, emulator: Google) -> None:
    mailbox = await connection.mailbox()
    emulator.expire_tokens()
    connection.client = ClientCredentials(client_id=CLIENT_ID, client_secret="wrong")
    with pytest.raises(GrantLost, match="client id or secret is wrong"):
        await mailbox.profile()
    connection.client = CLIENT
    assert (await mailbox.profile()).address == ALICE


async def test_nobody_reads_another_persons_mailbox(connection: Connection, emulator: Google) -> None:
    emulator.insert(BOB, HARD_MAIL)
    mailbox = await connection.mailbox(ALICE)
    assert (await mailbox.list_messages()).messages == ()


# Reading


async def test_the_profile_counts_the_mailbox(connection: Connection, emulator: Google) -> None:
    mailbox = await connection.mailbox()
    emulator.insert(ALICE, HARD_MAIL)
    emulator.insert(ALICE, HARD_MAIL, labels=["SPAM"])
    profile = await mailbox.profile()
    assert (profile.address, profile.messages_total) == (ALICE, 2)
    assert profile.cursor.isdigit()


async def test_the_addresses_begin_with_the_mailboxs_own_and_it_may_send_from_it(connection: Connection) -> None:
    mailbox = await connection.mailbox()
    own, *others = await mailbox.addresses()
    assert (own.address, own.own, own.confirmed) == (ALICE, True, True)
    assert not any(one.own for one in others)


async def test_pages_hold_every_message_once(connection: Connection, emulator: Google) -> None:
    inserted = {emulator.insert(ALICE, HARD_MAIL, labels=[label]) for label in ["INBOX", "SPAM", "TRASH", "SENT"] * 3}
    mailbox = await connection.mailbox()
    listed: list[str] = []
    token = None
    for _ in range(3):
        page = await mailbox.list_messages(page_token=token, limit=5)
        listed.extend(ref.id for ref in page.messages)
        token = page.next_page_token
    assert token is None
    assert (len(listed), set(listed)) == (12, inserted)
    spam = await mailbox.list_messages(label="SPAM")
    assert len(spam.messages) == 3


@needs(CORPUS)
async def test_real_mail_comes_back_byte_for_byte(connection: Connection, emulator: Google) -> None:
    originals = [path.read_bytes() for path in paths()[::10]] + [HARD_MAIL]
    ids = [emulator.insert(ALICE, original) for original in originals]
    mailbox = await connection.mailbox()
    for message_id, original in zip(ids, originals, strict=True):
        message = await mailbox.get(message_id)
        assert message.raw == original
        assert message.labels == frozenset({"INBOX", "UNREAD"})


async def test_a_message_deleted_meanwhile_is_gone(connection: Connection, emulator: Google) -> None:
    message_id = emulator.insert(ALICE, HARD_MAIL)
    mailbox = await connection.mailbox()
    emulator.delete(ALICE, message_id)
    with pytest.raises(MessageGone):
        await mailbox.get(message_id)
    with pytest.raises(MessageGone):
        await mailbox.modify(message_id, add=frozenset({"STARRED"}), remove=frozenset())


async def test_history_tells_what_happened_in_its_order(connection: Connection, emulator: Google) -> None:
    mailbox = await connection.mailbox()
    old = emulator.insert(ALICE, HARD_MAIL)
    start = (await mailbox.profile()).cursor

    new = emulator.insert(ALICE, HARD_MAIL)
    emulator.modify(ALICE, old, add=["STARRED"], remove=["UNREAD"])
    emulator.delete(ALICE, old)
    page = await mailbox.history(since=start)

    def of(message_id: str) -> list[tuple[str, frozenset[str]]]:
        return [(change.kind, change.labels) for change in page.changes if change.message_id == message_id]

    assert of(new) == [("added", frozenset())]
    assert of(old)[-1] == ("deleted", frozenset())
    assert set(of(old)[:-1]) == {("labels-added", frozenset({"STARRED"})), ("labels-removed", frozenset({"UNREAD"}))}
    assert all(change.thread_id for change in page.changes)
    assert (await mailbox.history(since=page.cursor)).changes == ()


# Writing


async def test_a_change_of_labels_shows_in_history(connection: Connection, emulator: Google) -> None:
    mailbox = await connection.mailbox()
    message_id = emulator.insert(ALICE, HARD_MAIL)
    start = (await mailbox.profile()).cursor
    await mailbox.modify(message_id, add=frozenset(), remove=frozenset({"INBOX", "UNREAD"}))
    await mailbox.modify(message_id, add=frozenset({"INBOX"}), remove=frozenset())

    assert emulator.labels_of(ALICE, message_id) == {"INBOX"}
    changes = (await mailbox.history(since=start)).changes
    thread_id = changes[0].thread_id

    def change(kind: str, *labels: str) -> HistoryChange:
        return HistoryChange(kind=kind, message_id=message_id, thread_id=thread_id, labels=frozenset(labels))  # type: ignore[arg-type]

    assert changes == (change("labels-removed", "INBOX", "UNREAD"), change("labels-added", "INBOX"))


async def test_a_label_is_made_once_and_carried_by_messages(connection: Connection, emulator: Google) -> None:
    mailbox = await connection.mailbox()
    name = f"Öps/{len(emulator.requests())}"
    label = await mailbox.create_label(name)
    assert (label.name, label.system) == (name, False)
    assert label in await mailbox.labels()
    assert {"INBOX", "UNREAD"} <= {one.id for one in await mailbox.labels() if one.system}
    with pytest.raises(Refused):
        await mailbox.create_label(name)

    message_id = emulator.insert(ALICE, HARD_MAIL)
    await mailbox.modify(message_id, add=frozenset({label.id}), remove=frozenset())
    assert label.id in (await mailbox.get(message_id)).labels


async def test_many_messages_change_in_one_call_and_those_that_are_gone_are_passed_over(
    connection: Connection, emulator: Google
) -> None:
    mailbox = await connection.mailbox()
    message_ids = [emulator.insert(ALICE, HARD_MAIL) for _ in range(12)]
    emulator.delete(ALICE, message_ids[3])
    start = (await mailbox.profile()).cursor
    await mailbox.modify_many(message_ids, add=frozenset({"STARRED"}), remove=frozenset({"INBOX", "UNREAD"}))
    left = [message_id for message_id in message_ids if message_id != message_ids[3]]
    assert all(emulator.labels_of(ALICE, message_id) == {"STARRED"} for message_id in left)
    changed = {change.message_id for change in (await mailbox.history(since=start)).changes}
    assert changed == set(left)


async def test_a_label_that_is_not_there_is_refused_for_one_and_for_many(
    connection: Connection, emulator: Google
) -> None:
    mailbox = await connection.mailbox()
    message_id = emulator.insert(ALICE, HARD_MAIL)
    with pytest.raises(Refused):
        await mailbox.modify(message_id, add=frozenset({"Label_404"}), remove=frozenset())
    with pytest.raises(Refused):
        await mailbox.modify_many([message_id], add=frozenset({"Label_404"}), remove=frozenset())


async def test_a_label_is_made_in_its_colour(connection: Connection, emulator: Google) -> None:
    mailbox = await connection.mailbox()
    name = f"Coloured/{len(emulator.requests())}"
    label = await mailbox.create_label(name, color="#17A868")
    assert label.color == "#16a766"
    assert label in await mailbox.labels()


async def test_sent_mail_stands_in_its_thread_as_it_was_sent(connection: Connection, emulator: Google) -> None:
    mailbox = await connection.mailbox()
    thread_id = (await mailbox.get(emulator.insert(ALICE, HARD_MAIL))).thread_id
    raw = b"From: alice@acme.test\r\nTo: eve@x.test\r\nSubject: Re\r\nMessage-ID: <1@svc>\r\n\r\nhi\r\n"
    sent = await mailbox.send(raw, thread_id=thread_id)
    assert sent.thread_id == thread_id
    assert "SENT" in sent.labels
    assert (await mailbox.get(sent.id)).raw == raw


async def test_a_large_mail_is_sent_byte_for_byte(connection: Connection, emulator: Google) -> None:
    mailbox = await connection.mailbox()
    raw = b"From: alice@acme.test\r\nTo: eve@x.test\r\nSubject: Large\r\n\r\n" + b"0123456789abcde\r\n" * 400_000
    sent = await mailbox.send(raw)
    assert (await mailbox.get(sent.id)).raw == raw
    assert any("/upload/gmail/v1/" in line for line in emulator.requests())


# Trouble on the wire


async def test_an_expired_history_is_told_as_such(connection: Connection, emulator: Google) -> None:
    mailbox = await connection.mailbox()
    emulator.fault("GET .*/history", status=404)
    with pytest.raises(HistoryExpired):
        await mailbox.history(since="1")


async def test_a_busy_google_is_waited_for(connection: Connection, emulator: Google) -> None:
    mailbox = await connection.mailbox()
    emulator.fault("/messages", status=429, headers={"retry-after": "1"})
    with pytest.raises(Throttled) as caught:
        await mailbox.list_messages()
    assert caught.value.retry_after_s == 1
    begin_s = trio.current_time()
    await mailbox.list_messages()
    assert trio.current_time() - begin_s > 0.9


@pytest.mark.parametrize("trouble", [{"status": 500}, {"cut": "before"}, {"cut": "after"}, {"truncate": 20}])
async def test_a_page_that_does_not_arrive_whole_is_asked_for_again(
    trouble: dict[str, object], connection: Connection, emulator: Google
) -> None:
    emulator.insert(ALICE, HARD_MAIL)
    mailbox = await connection.mailbox()
    emulator.fault("GET .*/messages", **trouble)  # type: ignore[arg-type]
    with pytest.raises(Unreachable) as caught:
        await mailbox.list_messages()
    assert not caught.value.may_have_happened
    assert len((await mailbox.list_messages()).messages) == 1


async def test_a_sent_mail_whose_answer_is_lost_may_have_been_sent(connection: Connection, emulator: Google) -> None:
    mailbox = await connection.mailbox()
    emulator.fault("POST .*/messages/send", cut="after")
    with pytest.raises(LostAnswer) as caught:
        await mailbox.send(HARD_MAIL)
    assert caught.value.may_have_happened
    assert len(emulator.message_ids(ALICE)) == 1


async def test_with_nobody_listening_nothing_can_have_happened(connection: Connection) -> None:
    mailbox = await connection.mailbox()
    listener = (await trio.open_tcp_listeners(0, host="127.0.0.1"))[0]
    port = listener.socket.getsockname()[1]
    await listener.aclose()
    gone = GmailProvider(
        address=ALICE,
        base_url=f"http://127.0.0.1:{port}",
        http=mailbox.http,
        tokens=mailbox.tokens,
        quota=mailbox.quota,
        clock=mailbox.clock,
    )
    with pytest.raises(Unreachable) as caught:
        await gone.send(HARD_MAIL)
    assert not caught.value.may_have_happened
