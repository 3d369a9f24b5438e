"""Whose pictures show at once, which parts of a mail are pictures of its own, and what the reader is warned of."""

from __future__ import annotations

from email.message import EmailMessage
from typing import Any

import pytest

from svc.principal import Principal
from tests.mail.images.conftest import Gallery
from tests.mail.images.pictures import PNG
from tests.support.mailbox import MailSync
from tests.support.service import RpcError, Service

OWNER = Principal(user_id="usr_m", device_id="dev_m", is_admin=False, via="session")
OTHER = Principal(user_id="usr_o", device_id="dev_o", is_admin=True, via="session")
NOA = "noa@example.org"


async def message_of(service: Service, thread_id: str) -> dict[str, Any]:
    found: dict[str, Any] = (await service.query("mail.thread", id=thread_id))["messages"][0]
    return found


async def test_a_trusted_sender_is_one_until_taken_back(gallery: Gallery) -> None:
    service = gallery.service
    thread_id = await gallery.receive("<img src=https://pictures.example/a.png>")
    assert not (await message_of(service, thread_id))["imagesAllowed"]
    for _ in range(2):
        await service.mutate("mail.trustSender", address=f" {NOA.upper()} ", trusted=True)
    assert (await message_of(service, thread_id))["imagesAllowed"]
    (sender,) = await service.query("mail.trustedSenders")
    assert sender["address"] == NOA
    await service.mutate("mail.trustSender", address=NOA, trusted=False)
    assert not (await message_of(service, thread_id))["imagesAllowed"]
    assert await service.query("mail.trustedSenders") == []


async def test_spam_that_names_a_trusted_sender_is_not_believed(gallery: Gallery) -> None:
    await gallery.service.mutate("mail.trustSender", address=NOA, trusted=True)
    thread_id = await gallery.receive("<p>x</p>", labels=["SPAM"])
    assert not (await message_of(gallery.service, thread_id))["imagesAllowed"]


async def test_only_mail_that_proves_its_sender_has_the_trust_in_them(gallery: Gallery) -> None:
    service = gallery.service
    await service.mutate("mail.trustSender", address=NOA, trusted=True)
    html = "<img src=https://pictures.example/a.png>"
    for authentication, allowed in [
        ("dmarc=pass header.from=example.org", True),
        ("dkim=pass header.d=example.org", True),
        ("dkim=pass header.d=mail.example.org", True),
        ("spf=pass smtp.mailfrom=noa@example.org", True),
        ("dkim=pass header.d=evil.test", False),
        ("dkim=pass header.d=example.org; dmarc=fail header.from=example.org", False),
        ("dmarc=none header.from=example.org", False),
        ("", False),
    ]:
        thread_id = await gallery.receive(html, authentication=authentication)
        assert (await message_of(service, thread_id))["imagesAllowed"] is allowed, authentication


async def test_a_trust_from_before_holds_until_its_sender_proves_who_they_are(gallery: Gallery) -> None:
    service = gallery.service
    await service.mutate("mail.trustSender", address=NOA, trusted=True)
    await service.workspace.store.write(lambda tx: tx.run("update mail_trusted_senders set bound = 0"))
    html = "<img src=https://pictures.example/a.png>"
    unproved = await gallery.receive(html, authentication="")
    assert (await message_of(service, unproved))["imagesAllowed"]
    disowned = await gallery.receive(html, authentication="dmarc=fail header.from=example.org")
    assert not (await message_of(service, disowned))["imagesAllowed"]
    proved = await gallery.receive(html)
    assert (await message_of(service, proved))["imagesAllowed"]
    assert not (await message_of(service, unproved))["imagesAllowed"]


async def test_trust_is_each_persons_own_and_the_first_admins_when_they_come(gallery: Gallery) -> None:
    service = gallery.service
    await service.mutate("mail.trustSender", address=NOA, trusted=True)
    assert b"noa@" not in (await service.ask_as(OWNER, "mail.trustedSenders", {})).body
    await service.ask_as(OTHER, "mail.trustSender", {"address": NOA, "trusted": False})
    assert await service.rows("select owner_id from mail_trusted_senders") == [(None,)]
    claimed = [feature.claim for feature in service.workspace.features if feature.claim]
    await service.workspace.store.write(lambda tx: [claim(tx, "usr_m") for claim in claimed])
    assert b"noa@" in (await service.ask_as(OWNER, "mail.trustedSenders", {})).body
    assert b"noa@" not in (await service.ask_as(OTHER, "mail.trustedSenders", {})).body
    await service.ask_as(OTHER, "mail.trustSender", {"address": "ann@example.org", "trusted": True})
    assert b"ann@" not in (await service.ask_as(OWNER, "mail.trustedSenders", {})).body


@pytest.mark.parametrize("address", ["x", "@example.org", "ann@", " @ ", "a" * 2_000 + "@example.org"])
async def test_what_is_no_address_can_not_be_trusted(service: Service, address: str) -> None:
    with pytest.raises(RpcError) as caught:
        await service.mutate("mail.trustSender", address=address, trusted=True)
    assert caught.value.code == "BAD_REQUEST"


async def test_parts_that_the_html_shows_stand_apart_from_what_is_attached(mail_sync: MailSync) -> None:
    letter = EmailMessage()
    letter["From"] = f"Noa <{NOA}>"
    letter["Subject"] = "With a picture"
    letter["Bcc"] = "hidden@example.org"
    letter["Reply-To"] = "Noa <noa@office.example.org>"
    letter.set_content("See below.")
    letter.add_alternative("<p>See: <img src=cid:one@here></p>", subtype="html")
    related = letter.get_payload()[1]  # type: ignore[index]
    related.add_related(PNG, "image", "png", cid="<one@here>", filename="one.png")  # type: ignore[union-attr]
    letter.add_attachment(PNG, maintype="image", subtype="png", filename="two.png")
    await mail_sync.inject(raw=letter.as_bytes())
    await mail_sync.synced()
    detail = await mail_sync.reader.thread(mail_sync.principal, thread_id=await mail_sync.thread_id_of("fake-1"))
    (message,) = detail.messages
    assert [(one.filename, one.content_id, one.size) for one in message.inline] == [("one.png", "one@here", len(PNG))]
    assert [one.filename for one in message.attachments] == ["one.png", "two.png"]
    assert "cid:" not in message.html
    assert [person.address for person in message.reply_to] == ["noa@office.example.org"]
    assert [person.address for person in message.bcc] == ["hidden@example.org"]
    assert (message.own, message.unread, message.warnings) == (False, True, ())


@pytest.mark.parametrize(
    ("head", "warnings"),
    [
        ({"from": "Bank <info@bank.example>"}, ()),
        ({"from": "Bank <info@bank.example>", "reply-to": "help@mail.bank.example"}, ()),
        (
            {"from": "Bank <info@bank.example>", "reply-to": "info@evil.test"},
            ("An answer goes to info@evil.test, not to bank.example",),
        ),
        ({"from": "List <all@list.example>", "reply-to": "ann@a.example", "list-id": "<all.list.example>"}, ()),
        (
            {"from": '"help@bank.example" <x@evil.test>'},
            ("The sender is called help@bank.example but writes from x@evil.test",),
        ),
        (
            {"from": '"ba\u200bnk.example" <x@evil.test>'},
            ("The sender is called bank.example but writes from x@evil.test",),
        ),
        ({"from": '"ann@a.example" <ann@a.example>'}, ()),
        ({"from": "x"}, ("This mail does not say from which address x writes",)),
        ({"from": "Facebook ,_<bad@evil.test>"}, ()),
        ({"from": '"PayPal"<69496118<info@evil.test>'}, ()),
        (
            {"from": "service@paypal.example, <bad@evil.test>"},
            ("This mail names more than one sender: service@paypal.example, bad@evil.test",),
        ),
        (
            {"from": "a@a.example, b@a.example, c@a.example, d@a.example, A@a.example"},
            ("This mail names more than one sender: a@a.example, b@a.example, c@a.example and 1 more",),
        ),
        (
            {"from": "Bank (help@bank.example) <x@evil.test>"},
            (),
        ),
        (
            {"from": '"Bank, help@bank.example for you" <x@evil.test>'},
            ("The sender is called Bank, help@bank.example for you but writes from x@evil.test",),
        ),
        ({"from": '"Ann (ann@mail.a.example)" <ann@a.example>'}, ()),
    ],
)
async def test_headers_that_say_one_thing_and_mean_another_are_told(
    mail_sync: MailSync, head: dict[str, str], warnings: tuple[str, ...]
) -> None:
    lines = [f"{name}: {value}" for name, value in head.items()]
    await mail_sync.inject(raw="\r\n".join([*lines, "subject: x", "", "hello"]).encode())
    await mail_sync.synced()
    detail = await mail_sync.reader.thread(mail_sync.principal, thread_id=await mail_sync.thread_id_of("fake-1"))
    assert detail.messages[0].warnings == warnings


async def test_a_link_that_shows_another_place_is_told_now_and_from_the_cache(gallery: Gallery) -> None:
    thread_id = await gallery.receive("<a href=https://evil.test/login>https://example.com/login</a>")
    for _ in range(2):
        assert (await message_of(gallery.service, thread_id))["warnings"] == [
            "A link shows example.com but goes to evil.test"
        ]
