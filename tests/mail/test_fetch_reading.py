"""From raw bytes to what a browser may show: blobs, files, and thread views, sanitized, cached and never lost."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from email.message import EmailMessage
from functools import partial

import msgspec
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from svc.errors import NotFound
from svc.files.access import readable_file
from svc.formats.html import POLICY_VERSION, CleanHtml, plan, text_fallback
from svc.mail.model import Body
from svc.mail.reading import reader
from svc.mail.reading.reader import MAX_MESSAGES_SHOWN
from svc.mail.reading.wire import MessageOut
from svc.store import Tx
from tests.formats.html.invariants import assert_harmless
from tests.full_disk import limit_pages
from tests.recorded_log import RecordedLog
from tests.support.mailbox import MIA, MailSync, user

OWNER = user("mia")
HOSTILE = (
    "<h1>Offer</h1><script>alert(1)</script><img src=https://evil.example/p.gif onerror=alert(1)>"
    "<a href=javascript:alert(1)>x</a><style>*{display:none}</style><p style='position:fixed'>Hello</p>"
)


def letter(*, text: str | None = "plain", html: str | None = None, files: Sequence[tuple[str, bytes]] = ()) -> bytes:
    message = EmailMessage()
    message["From"] = "Noa <noa@example.org>"
    message["Subject"] = "A letter"
    message.set_content(text or "")
    if html is not None:
        message.add_alternative(html, subtype="html")
    for name, content in files:
        message.add_attachment(content, maintype="application", subtype="pdf", filename=name)
    return message.as_bytes()


async def opened(mail_sync: MailSync, provider_message_id: str = "fake-1") -> MessageOut:
    thread_id = await mail_sync.thread_id_of(provider_message_id)
    detail = await mail_sync.reader.thread(mail_sync.principal, thread_id=thread_id)
    return detail.messages[0]


async def cached(mail_sync: MailSync) -> list[tuple[object, ...]]:
    return await mail_sync.rows("select body_sha256, policy, html from mail_clean order by body_sha256")


async def forge_cache(mail_sync: MailSync, html: str) -> None:
    """What is read back after this was not made anew."""
    await mail_sync.store.write(lambda tx: tx.run("update mail_clean set html = :html", html=html))


# Fetching


async def test_the_body_blob_is_json_of_html_and_text(mail_sync: MailSync) -> None:
    raw = letter(text="plain é", html="<p>rich é</p>")
    await mail_sync.inject(raw=raw)
    await mail_sync.synced()
    ((body_sha256, raw_sha256, size),) = await mail_sync.rows(
        "select body_sha256, raw_sha256, raw_size from mail_messages"
    )
    body = await mail_sync.blobs.read(str(body_sha256), limit=10_000)
    assert msgspec.json.decode(body) == {"html": "<p>rich é</p>\n", "text": "plain é\n"}
    assert await mail_sync.blobs.read(str(raw_sha256), limit=10_000) == raw
    assert size == len(raw)


async def test_attachments_become_files_of_the_accounts_owner_with_ids_that_never_change(mail_sync: MailSync) -> None:
    mail_sync.principal = OWNER
    await mail_sync.inject(raw=letter(files=[("a.pdf", b"%PDF a"), ("b.pdf", b"%PDF b")]))
    account_id = await mail_sync.synced()
    attachments = (await opened(mail_sync)).attachments
    assert [(one.filename, one.size) for one in attachments] == [("a.pdf", 6), ("b.pdf", 6)]
    for one, content in zip(attachments, (b"%PDF a", b"%PDF b"), strict=True):
        file = await mail_sync.store.read(readable_file, OWNER, file_id=one.file_id)
        assert file is not None
        assert (file.name, file.mime, file.sha256) == (one.filename, "application/pdf", one.sha256)
        assert one.sha256 == hashlib.sha256(content).hexdigest()
        assert await mail_sync.blobs.read(one.sha256, limit=100) == content
        assert await mail_sync.store.read(readable_file, user("noa"), file_id=one.file_id) is None
    for table in ("files", "mail_messages", "mail_filtered_threads", "mail_threads"):
        await mail_sync.store.write(partial(_emptied, table=table))
    await mail_sync.store.write(lambda tx: tx.run("update mail_accounts set cursor = null, messages = 0"))
    await mail_sync.sync_of(account_id).step()
    assert (await opened(mail_sync)).attachments == attachments


def _emptied(tx: Tx, *, table: str) -> None:
    tx.run(f"delete from {table}")


async def test_a_deleted_message_takes_its_files_along(mail_sync: MailSync) -> None:
    await mail_sync.inject(raw=letter(files=[("a.pdf", b"%PDF a")]))
    account_id = await mail_sync.synced()
    file_id = (await opened(mail_sync)).attachments[0].file_id
    await mail_sync.fake_mail.delete(address=MIA, message_id="fake-1")
    await mail_sync.sync_of(account_id).step()
    assert await mail_sync.store.read(readable_file, mail_sync.principal, file_id=file_id) is None


async def test_of_a_deleted_body_nothing_is_kept_unless_another_message_has_it(mail_sync: MailSync) -> None:
    for _ in range(2):
        await mail_sync.inject(raw=letter(html=HOSTILE))
    account_id = await mail_sync.synced()
    await opened(mail_sync)
    kept = "select (select count(*) from mail_clean), (select count(*) from mail_remote_images)"
    for left, number in ((1, "fake-1"), (0, "fake-2")):
        await mail_sync.fake_mail.delete(address=MIA, message_id=number)
        await mail_sync.sync_of(account_id).step()
        assert await mail_sync.rows("select count(*) from mail_messages") == [(left,)]
        assert await mail_sync.rows(kept) == [(left, left)]


async def test_a_body_deleted_while_it_is_sanitized_is_not_kept(mail_sync: MailSync) -> None:
    await mail_sync.store.write(reader._remember, body_sha256="0" * 64, clean=CleanHtml(html="<p>gone</p>"))
    assert await mail_sync.rows("select * from mail_clean") == []


# Reading


async def test_html_is_sanitized_on_its_way_out_and_kept_as_it_came(mail_sync: MailSync) -> None:
    await mail_sync.inject(raw=letter(html=HOSTILE))
    await mail_sync.synced()
    message = await opened(mail_sync)
    assert "<script" not in message.html
    assert "evil.example" not in message.html
    assert "Hello" in message.html
    assert (message.blocked_images, message.remote_images) == (1, ("https://evil.example/p.gif",))
    ((body_sha256,),) = await mail_sync.rows("select body_sha256 from mail_messages")
    body = msgspec.json.decode(await mail_sync.blobs.read(str(body_sha256), limit=10_000), type=Body)
    assert body.html is not None
    assert "<script>" in body.html


async def test_a_mail_without_html_is_shown_as_html_of_its_text(mail_sync: MailSync) -> None:
    await mail_sync.inject(raw=letter(text="1 < 2 & <b>not bold</b>\n> quoted"))
    await mail_sync.synced()
    message = await opened(mail_sync)
    assert "1 &lt; 2 &amp; &lt;b&gt;not bold&lt;/b&gt;" in message.html
    assert "<blockquote" in message.html
    assert message.text.startswith("1 < 2")


@pytest.mark.parametrize("html", [None, "<p>Yes.</p><p>-- </p><p>Mia</p>"])
async def test_what_a_mail_ends_with_is_marked_and_told(mail_sync: MailSync, html: str | None) -> None:
    await mail_sync.inject(raw=letter(text="Yes.\n\n-- \nMia", html=html))
    await mail_sync.synced()
    message = await opened(mail_sync)
    assert (message.folds, message.folded_line) == (True, 2)
    assert message.html.index("Yes.") < message.html.index("data-fold") < message.html.index("Mia")


@pytest.mark.parametrize("subject", ["Fwd: A letter", "FW: Re: A letter", "WG: Brief"])
async def test_a_forward_does_not_fold(mail_sync: MailSync, subject: str) -> None:
    raw = letter(text="See.\n\nFrom: Noa\nTo: Mia\nSubject: Plans\n\nShall we meet?")
    await mail_sync.inject(raw=raw.replace(b"Subject: A letter", f"Subject: {subject}".encode()))
    await mail_sync.inject(raw=raw.replace(b"Subject: A letter", b"Subject: Re: FW: A letter"))
    await mail_sync.synced()
    assert [
        ((await opened(mail_sync, f"fake-{at}")).folds, (await opened(mail_sync, f"fake-{at}")).folded_line)
        for at in (1, 2)
    ] == [
        (False, None),
        (True, 2),
    ]


async def test_what_does_not_fold_is_not_told_to(mail_sync: MailSync) -> None:
    await mail_sync.inject(raw=letter(text="Yes."))
    await mail_sync.synced()
    message = await opened(mail_sync)
    assert (message.folds, message.folded_line) == (False, None)


async def test_a_body_is_sanitized_once_a_policy(mail_sync: MailSync) -> None:
    for number in range(2):
        await mail_sync.inject(f"copy {number}", raw=letter(html="<p>same</p>"))
    await mail_sync.synced()
    await opened(mail_sync)
    ((sha256, policy, html),) = await cached(mail_sync)
    assert policy == POLICY_VERSION
    assert "same" in str(html)
    await forge_cache(mail_sync, "<p>from the cache</p>")
    assert (await opened(mail_sync, "fake-1")).html == "<p>from the cache</p>"
    assert (await opened(mail_sync, "fake-2")).html == "<p>from the cache</p>"
    await mail_sync.store.write(lambda tx: tx.run("update mail_clean set policy = policy - 1"))
    assert (await opened(mail_sync)).html == html
    assert [row[1] for row in await cached(mail_sync)] == [POLICY_VERSION - 1, POLICY_VERSION]
    assert sha256


@pytest.mark.parametrize("damage", ["missing", "damaged"])
async def test_a_lost_body_is_said_in_a_sentence_and_the_rest_is_shown(
    mail_sync: MailSync, log: RecordedLog, damage: str
) -> None:
    await mail_sync.inject(raw=letter(text="lost", files=[("a.pdf", b"%PDF a")]), thread="t")
    await trio.sleep(60)
    await mail_sync.inject(raw=letter(text="still here"), thread="t")
    await mail_sync.synced()
    ((body_sha256,),) = await mail_sync.rows(
        "select body_sha256 from mail_messages where provider_message_id = 'fake-1'"
    )
    (path,) = [one for one in mail_sync.home.rglob(str(body_sha256)) if one.is_file()]
    path.unlink()
    if damage == "damaged":
        path.write_bytes(b'{"html":"<p>planted</p>","text":"x"}')
    thread_id = await mail_sync.thread_id_of("fake-1")
    lost, kept = (await mail_sync.reader.thread(mail_sync.principal, thread_id=thread_id)).messages
    assert "This part of the message is damaged" in lost.html
    assert "planted" not in lost.html + lost.text
    assert [one.filename for one in lost.attachments] == ["a.pdf"]
    assert lost.from_.address == "noa@example.org"
    assert "still here" in kept.html
    assert log.events("error") == ["mail.body_lost"]
    assert [row[0] for row in await cached(mail_sync)] != [body_sha256]


async def test_a_foreign_thread_is_as_missing_as_one_that_never_was(mail_sync: MailSync) -> None:
    mail_sync.principal = OWNER
    await mail_sync.synced("private")
    for thread_id in (await mail_sync.thread_id_of("fake-1"), "thr_neverwas"):
        with pytest.raises(NotFound, match="There is no such thread"):
            await mail_sync.reader.thread(user("noa"), thread_id=thread_id)


@pytest.mark.parametrize(
    "html",
    [
        "<p>&nbsp;\u200b</p>",
        "<style>p{}</style><iframe>x</iframe>",
        "<html><head><title>T</title></head><body></body></html>",
        "<table><tr><td>&#8203;<hr></td></tr></table>",
    ],
)
async def test_where_the_html_shows_nothing_the_text_is_shown(mail_sync: MailSync, html: str) -> None:
    await mail_sync.inject(raw=letter(text="Dear <Mia>\n", html=html))
    await mail_sync.synced()
    assert "Dear &lt;Mia&gt;" in (await opened(mail_sync)).html
    assert "Dear &lt;Mia&gt;" in (await opened(mail_sync)).html  # from the cache


async def test_where_there_is_nothing_but_a_counting_pixel_the_text_is_shown_and_the_pixel_kept(
    mail_sync: MailSync,
) -> None:
    pixel = "<p></p><img src=//a.example/p.gif width=1 height=1>"
    await mail_sync.inject(raw=letter(text="Dear Mia", html=pixel))
    await mail_sync.synced()
    message = await opened(mail_sync)
    assert "Dear Mia" in message.html
    assert message.html.endswith('<img data-remote="0" height="1" width="1">')
    assert (message.remote_images, message.blocked_images) == (("https://a.example/p.gif",), 1)


@pytest.mark.parametrize("html", ["<p>Hi</p>", "<img src=//a.example/p.gif>"])
async def test_html_that_shows_something_is_shown_alone(mail_sync: MailSync, html: str) -> None:
    await mail_sync.inject(raw=letter(text="Something else", html=html))
    await mail_sync.synced()
    assert "Something else" not in (await opened(mail_sync)).html


@pytest.mark.parametrize("html", [None, "<p> </p>"])
async def test_a_mail_that_has_neither_text_nor_html_says_so(mail_sync: MailSync, html: str | None) -> None:
    await mail_sync.inject(raw=letter(text=" \n", html=html))
    await mail_sync.synced()
    assert "This message has no text." in (await opened(mail_sync)).html


@pytest.mark.thorough
async def test_a_large_body_goes_through_a_worker_process(mail_sync: MailSync) -> None:
    html = "<p>Hello <b>there</b></p>" * 4_000
    assert plan(html) == "process"
    await mail_sync.inject(raw=letter(html=html))
    await mail_sync.synced()
    message = await opened(mail_sync)
    assert message.html.count("<b>there</b>") == 4_000


@pytest.mark.thorough
async def test_on_a_full_disk_a_thread_still_opens(mail_sync: MailSync, log: RecordedLog) -> None:
    await mail_sync.inject(raw=letter(html="<b>there</b>" * 4_000))
    await mail_sync.synced()
    await mail_sync.store.write(limit_pages, 0)
    assert (await opened(mail_sync)).html.count("<b>there</b>") == 4_000
    assert await cached(mail_sync) == []
    assert log.events("warning") == ["mail.reading_not_kept"]
    await mail_sync.store.write(limit_pages, None)
    await opened(mail_sync)
    assert len(await cached(mail_sync)) == 1


@pytest.mark.thorough
async def test_a_body_that_takes_too_long_is_shown_as_text_this_time(
    mail_sync: MailSync, clock: MockClock, log: RecordedLog
) -> None:
    html = "<p>Dear Mia</p>" + "<table><td>" * 40_000
    assert plan(html) == "process"
    await mail_sync.inject(raw=letter(html=html))
    await mail_sync.synced()
    shown: list[MessageOut] = []

    async def read() -> None:
        shown.append(await opened(mail_sync))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        while not shown:
            await wait_all_tasks_blocked(0.2)
            clock.jump(reader.SANITIZE_DEADLINE_S)
    assert shown[0].html == text_fallback(html).html
    assert "Dear Mia" in shown[0].html
    assert_harmless(text_fallback(html))
    assert log.events("warning") == ["mail.sanitize_gave_up"]
    assert await cached(mail_sync) == []
    assert "<table>" in (await opened(mail_sync)).html
    assert log.events("warning") == ["mail.sanitize_gave_up"]


@pytest.mark.thorough
async def test_a_thread_without_end_shows_its_newest_messages(mail_sync: MailSync) -> None:
    surplus = 3
    for number in range(MAX_MESSAGES_SHOWN + surplus):
        await mail_sync.inject(f"Mail {number}", thread="t")
        await trio.sleep(1)
    await mail_sync.synced()
    detail = await mail_sync.reader.thread(mail_sync.principal, thread_id=await mail_sync.thread_id_of("fake-1"))
    assert len(detail.messages) == MAX_MESSAGES_SHOWN
    assert detail.messages[0].subject == f"Mail {surplus}"
    assert detail.messages[-1].subject == f"Mail {MAX_MESSAGES_SHOWN + surplus - 1}"
    assert detail.thread.message_count == MAX_MESSAGES_SHOWN + surplus
