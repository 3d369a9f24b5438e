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
from tests.support.mailbox import MIA, Rig, user

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


async def opened(rig: Rig, provider_message_id: str = "fake-1") -> MessageOut:
    thread_id = await rig.thread_id_of(provider_message_id)
    detail = await rig.reader.thread(rig.principal, thread_id=thread_id)
    return detail.messages[0]


async def cached(rig: Rig) -> list[tuple[object, ...]]:
    return await rig.rows("select body_sha256, policy, html from mail_clean order by body_sha256")


async def forge_cache(rig: Rig, html: str) -> None:
    """What is read back after this was not made anew."""
    await rig.store.write(lambda tx: tx.run("update mail_clean set html = :html", html=html))


# Fetching


async def test_the_body_blob_is_json_of_html_and_text(rig: Rig) -> None:
    raw = letter(text="plain é", html="<p>rich é</p>")
    await rig.inject(raw=raw)
    await rig.synced()
    ((body_sha256, raw_sha256, size),) = await rig.rows("select body_sha256, raw_sha256, raw_size from mail_messages")
    body = await rig.blobs.read(str(body_sha256), limit=10_000)
    assert msgspec.json.decode(body) == {"html": "<p>rich é</p>\n", "text": "plain é\n"}
    assert await rig.blobs.read(str(raw_sha256), limit=10_000) == raw
    assert size == len(raw)


async def test_attachments_become_files_of_the_accounts_owner_with_ids_that_never_change(rig: Rig) -> None:
    rig.principal = OWNER
    await rig.inject(raw=letter(files=[("a.pdf", b"%PDF a"), ("b.pdf", b"%PDF b")]))
    account_id = await rig.synced()
    attachments = (await opened(rig)).attachments
    assert [(one.filename, one.size) for one in attachments] == [("a.pdf", 6), ("b.pdf", 6)]
    for one, content in zip(attachments, (b"%PDF a", b"%PDF b"), strict=True):
        file = await rig.store.read(readable_file, OWNER, file_id=one.file_id)
        assert file is not None
        assert (file.name, file.mime, file.sha256) == (one.filename, "application/pdf", one.sha256)
        assert one.sha256 == hashlib.sha256(content).hexdigest()
        assert await rig.blobs.read(one.sha256, limit=100) == content
        assert await rig.store.read(readable_file, user("noa"), file_id=one.file_id) is None
    for table in ("files", "mail_messages", "mail_filtered_threads", "mail_threads"):
        await rig.store.write(partial(_emptied, table=table))
    await rig.store.write(lambda tx: tx.run("update mail_accounts set cursor = null, messages = 0"))
    await rig.sync_of(account_id).step()
    assert (await opened(rig)).attachments == attachments


def _emptied(tx: Tx, *, table: str) -> None:
    tx.run(f"delete from {table}")


async def test_a_deleted_message_takes_its_files_along(rig: Rig) -> None:
    await rig.inject(raw=letter(files=[("a.pdf", b"%PDF a")]))
    account_id = await rig.synced()
    file_id = (await opened(rig)).attachments[0].file_id
    await rig.world.delete(address=MIA, message_id="fake-1")
    await rig.sync_of(account_id).step()
    assert await rig.store.read(readable_file, rig.principal, file_id=file_id) is None


async def test_of_a_deleted_body_nothing_is_kept_unless_another_message_has_it(rig: Rig) -> None:
    for _ in range(2):
        await rig.inject(raw=letter(html=HOSTILE))
    account_id = await rig.synced()
    await opened(rig)
    kept = "select (select count(*) from mail_clean), (select count(*) from mail_remote_images)"
    for left, number in ((1, "fake-1"), (0, "fake-2")):
        await rig.world.delete(address=MIA, message_id=number)
        await rig.sync_of(account_id).step()
        assert await rig.rows("select count(*) from mail_messages") == [(left,)]
        assert await rig.rows(kept) == [(left, left)]


async def test_a_body_deleted_while_it_is_sanitized_is_not_kept(rig: Rig) -> None:
    await rig.store.write(reader._remember, body_sha256="0" * 64, clean=CleanHtml(html="<p>gone</p>"))
    assert await rig.rows("select * from mail_clean") == []


# Reading


async def test_html_is_sanitized_on_its_way_out_and_kept_as_it_came(rig: Rig) -> None:
    await rig.inject(raw=letter(html=HOSTILE))
    await rig.synced()
    message = await opened(rig)
    assert "<script" not in message.html
    assert "evil.example" not in message.html
    assert "Hello" in message.html
    assert (message.blocked_images, message.remote_images) == (1, ("https://evil.example/p.gif",))
    ((body_sha256,),) = await rig.rows("select body_sha256 from mail_messages")
    body = msgspec.json.decode(await rig.blobs.read(str(body_sha256), limit=10_000), type=Body)
    assert body.html is not None
    assert "<script>" in body.html


async def test_a_mail_without_html_is_shown_as_html_of_its_text(rig: Rig) -> None:
    await rig.inject(raw=letter(text="1 < 2 & <b>not bold</b>\n> quoted"))
    await rig.synced()
    message = await opened(rig)
    assert "1 &lt; 2 &amp; &lt;b&gt;not bold&lt;/b&gt;" in message.html
    assert "<blockquote" in message.html
    assert message.text.startswith("1 < 2")


@pytest.mark.parametrize("html", [None, "<p>Yes.</p><p>-- </p><p>Mia</p>"])
async def test_what_a_mail_ends_with_is_marked_and_told(rig: Rig, html: str | None) -> None:
    await rig.inject(raw=letter(text="Yes.\n\n-- \nMia", html=html))
    await rig.synced()
    message = await opened(rig)
    assert (message.folds, message.folded_line) == (True, 2)
    assert message.html.index("Yes.") < message.html.index("data-fold") < message.html.index("Mia")


@pytest.mark.parametrize("subject", ["Fwd: A letter", "FW: Re: A letter", "WG: Brief"])
async def test_a_forward_does_not_fold(rig: Rig, subject: str) -> None:
    raw = letter(text="See.\n\nFrom: Noa\nTo: Mia\nSubject: Plans\n\nShall we meet?")
    await rig.inject(raw=raw.replace(b"Subject: A letter", f"Subject: {subject}".encode()))
    await rig.inject(raw=raw.replace(b"Subject: A letter", b"Subject: Re: FW: A letter"))
    await rig.synced()
    assert [
        ((await opened(rig, f"fake-{at}")).folds, (await opened(rig, f"fake-{at}")).folded_line) for at in (1, 2)
    ] == [
        (False, None),
        (True, 2),
    ]


async def test_what_does_not_fold_is_not_told_to(rig: Rig) -> None:
    await rig.inject(raw=letter(text="Yes."))
    await rig.synced()
    message = await opened(rig)
    assert (message.folds, message.folded_line) == (False, None)


async def test_a_body_is_sanitized_once_a_policy(rig: Rig) -> None:
    for number in range(2):
        await rig.inject(f"copy {number}", raw=letter(html="<p>same</p>"))
    await rig.synced()
    await opened(rig)
    ((sha256, policy, html),) = await cached(rig)
    assert policy == POLICY_VERSION
    assert "same" in str(html)
    await forge_cache(rig, "<p>from the cache</p>")
    assert (await opened(rig, "fake-1")).html == "<p>from the cache</p>"
    assert (await opened(rig, "fake-2")).html == "<p>from the cache</p>"
    await rig.store.write(lambda tx: tx.run("update mail_clean set policy = policy - 1"))
    assert (await opened(rig)).html == html
    assert [row[1] for row in await cached(rig)] == [POLICY_VERSION - 1, POLICY_VERSION]
    assert sha256


@pytest.mark.parametrize("damage", ["missing", "damaged"])
async def test_a_lost_body_is_said_in_a_sentence_and_the_rest_is_shown(rig: Rig, log: RecordedLog, damage: str) -> None:
    await rig.inject(raw=letter(text="lost", files=[("a.pdf", b"%PDF a")]), thread="t")
    await trio.sleep(60)
    await rig.inject(raw=letter(text="still here"), thread="t")
    await rig.synced()
    ((body_sha256,),) = await rig.rows("select body_sha256 from mail_messages where provider_message_id = 'fake-1'")
    (path,) = [one for one in rig.home.rglob(str(body_sha256)) if one.is_file()]
    path.unlink()
    if damage == "damaged":
        path.write_bytes(b'{"html":"<p>planted</p>","text":"x"}')
    thread_id = await rig.thread_id_of("fake-1")
    lost, kept = (await rig.reader.thread(rig.principal, thread_id=thread_id)).messages
    assert "This part of the message is damaged" in lost.html
    assert "planted" not in lost.html + lost.text
    assert [one.filename for one in lost.attachments] == ["a.pdf"]
    assert lost.from_.address == "noa@example.org"
    assert "still here" in kept.html
    assert log.events("error") == ["mail.body_lost"]
    assert [row[0] for row in await cached(rig)] != [body_sha256]


async def test_a_foreign_thread_is_as_missing_as_one_that_never_was(rig: Rig) -> None:
    rig.principal = OWNER
    await rig.synced("private")
    for thread_id in (await rig.thread_id_of("fake-1"), "thr_neverwas"):
        with pytest.raises(NotFound, match="There is no such thread"):
            await rig.reader.thread(user("noa"), thread_id=thread_id)


@pytest.mark.parametrize(
    "html",
    [
        "<p>&nbsp;\u200b</p>",
        "<style>p{}</style><iframe>x</iframe>",
        "<html><head><title>T</title></head><body></body></html>",
        "<table><tr><td>&#8203;<hr></td></tr></table>",
    ],
)
async def test_where_the_html_shows_nothing_the_text_is_shown(rig: Rig, html: str) -> None:
    await rig.inject(raw=letter(text="Dear <Mia>\n", html=html))
    await rig.synced()
    assert "Dear &lt;Mia&gt;" in (await opened(rig)).html
    assert "Dear &lt;Mia&gt;" in (await opened(rig)).html  # from the cache


async def test_where_there_is_nothing_but_a_counting_pixel_the_text_is_shown_and_the_pixel_kept(rig: Rig) -> None:
    pixel = "<p></p><img src=//a.example/p.gif width=1 height=1>"
    await rig.inject(raw=letter(text="Dear Mia", html=pixel))
    await rig.synced()
    message = await opened(rig)
    assert "Dear Mia" in message.html
    assert message.html.endswith('<img data-remote="0" height="1" width="1">')
    assert (message.remote_images, message.blocked_images) == (("https://a.example/p.gif",), 1)


@pytest.mark.parametrize("html", ["<p>Hi</p>", "<img src=//a.example/p.gif>"])
async def test_html_that_shows_something_is_shown_alone(rig: Rig, html: str) -> None:
    await rig.inject(raw=letter(text="Something else", html=html))
    await rig.synced()
    assert "Something else" not in (await opened(rig)).html


@pytest.mark.parametrize("html", [None, "<p> </p>"])
async def test_a_mail_that_has_neither_text_nor_html_says_so(rig: Rig, html: str | None) -> None:
    await rig.inject(raw=letter(text=" \n", html=html))
    await rig.synced()
    assert "This message has no text." in (await opened(rig)).html


@pytest.mark.thorough
async def test_a_large_body_goes_through_a_worker_process(rig: Rig) -> None:
    html = "<p>Hello <b>there</b></p>" * 4_000
    assert plan(html) == "process"
    await rig.inject(raw=letter(html=html))
    await rig.synced()
    message = await opened(rig)
    assert message.html.count("<b>there</b>") == 4_000


@pytest.mark.thorough
async def test_on_a_full_disk_a_thread_still_opens(rig: Rig, log: RecordedLog) -> None:
    await rig.inject(raw=letter(html="<b>there</b>" * 4_000))
    await rig.synced()
    await rig.store.write(limit_pages, 0)
    assert (await opened(rig)).html.count("<b>there</b>") == 4_000
    assert await cached(rig) == []
    assert log.events("warning") == ["mail.reading_not_kept"]
    await rig.store.write(limit_pages, None)
    await opened(rig)
    assert len(await cached(rig)) == 1


@pytest.mark.thorough
async def test_a_body_that_takes_too_long_is_shown_as_text_this_time(
    rig: Rig, clock: MockClock, log: RecordedLog
) -> None:
    html = "<p>Dear Mia</p>" + "<table><td>" * 40_000
    assert plan(html) == "process"
    await rig.inject(raw=letter(html=html))
    await rig.synced()
    shown: list[MessageOut] = []

    async def read() -> None:
        shown.append(await opened(rig))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        while not shown:
            await wait_all_tasks_blocked(0.2)
            clock.jump(reader.SANITIZE_DEADLINE_S)
    assert shown[0].html == text_fallback(html).html
    assert "Dear Mia" in shown[0].html
    assert_harmless(text_fallback(html))
    assert log.events("warning") == ["mail.sanitize_gave_up"]
    assert await cached(rig) == []
    assert "<table>" in (await opened(rig)).html
    assert log.events("warning") == ["mail.sanitize_gave_up"]


@pytest.mark.thorough
async def test_a_thread_without_end_shows_its_newest_messages(rig: Rig) -> None:
    surplus = 3
    for number in range(MAX_MESSAGES_SHOWN + surplus):
        await rig.inject(f"Mail {number}", thread="t")
        await trio.sleep(1)
    await rig.synced()
    detail = await rig.reader.thread(rig.principal, thread_id=await rig.thread_id_of("fake-1"))
    assert len(detail.messages) == MAX_MESSAGES_SHOWN
    assert detail.messages[0].subject == f"Mail {surplus}"
    assert detail.messages[-1].subject == f"Mail {MAX_MESSAGES_SHOWN + surplus - 1}"
    assert detail.thread.message_count == MAX_MESSAGES_SHOWN + surplus
