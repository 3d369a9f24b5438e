"""Which message an answer begins from, and whose addresses are one's own, decided in a transaction alone."""

from __future__ import annotations

import pytest

from svc.errors import Forbidden, Invalid, NotFound
from svc.mail.model import AttachmentRef, MessageHeaders
from svc.mail.sending import drafts, preparing
from svc.principal import Principal
from tests.mail.bare import NOON
from tests.mail.sending.sending_database import BEN, MIA, SendingDatabase


@pytest.fixture
def database() -> SendingDatabase:
    return SendingDatabase()


def found(
    database: SendingDatabase, *, by: Principal = MIA, thread: str | None = None, message: str | None = None
) -> str:
    return preparing._find(database.tx, by, thread_id=thread, message_id=message).message.id


def test_the_last_message_that_is_no_draft_is_answered_and_a_draft_where_there_is_no_other(
    database: SendingDatabase,
) -> None:
    database.message("msg_1", at=NOON)
    database.message("msg_2", at=NOON + 1)
    database.message("msg_3", at=NOON + 2, labels='["DRAFT"]')
    assert found(database, thread="thr_1") == "msg_2"
    database.message("msg_4", thread="thr_2", labels='["DRAFT"]')
    assert found(database, thread="thr_2") == "msg_4"


def test_a_thread_without_a_message_has_nothing_to_answer(database: SendingDatabase) -> None:
    database.message("msg_1")
    database.tx.run("delete from mail_messages")
    with pytest.raises(NotFound, match="no such message"):
        found(database, thread="thr_1")
    with pytest.raises(NotFound, match="no such thread"):
        found(database, thread="thr_none")


def test_a_message_is_named_alone_or_with_its_thread_also_by_an_id_that_thread_had(database: SendingDatabase) -> None:
    database.message("msg_1")
    database.message("msg_2", thread="thr_2")
    database.tx.run("insert into mail_joined_threads (thread_id, became) values ('thr_old', 'thr_1')")
    assert found(database, message="msg_1") == "msg_1"
    assert found(database, thread="thr_1", message="msg_1") == "msg_1"
    assert found(database, thread="thr_old", message="msg_1") == "msg_1"
    with pytest.raises(NotFound, match="no such message"):
        found(database, thread="thr_1", message="msg_2")
    with pytest.raises(NotFound, match="no such message"):
        found(database, message="msg_none")
    with pytest.raises(Invalid, match="threadId, or messageId"):
        found(database)


def test_ones_own_are_all_ones_addresses_and_that_of_the_account_that_is_shared(database: SendingDatabase) -> None:
    database.message("msg_1")
    database.account(BEN, "ben@example.org")
    with pytest.raises(NotFound):
        found(database, by=BEN, message="msg_1")
    database.share(BEN, "read")
    with pytest.raises(Forbidden):
        found(database, by=BEN, message="msg_1")
    database.tx.run("update mail_shares set access = 'act'")
    drafts.set_signature(database.tx, MIA, account_id=database.account_id, html="<p>Mia</p>")
    ready = preparing._find(database.tx, BEN, thread_id=None, message_id="msg_1")
    assert ready.own == {"ben@example.org", "mia@example.org"}
    assert (ready.account.id, ready.signature) == (database.account_id, "<p>Mia</p>")


def test_a_forward_takes_files_along_and_a_picture_only_where_no_text_can_name_it(database: SendingDatabase) -> None:
    kinds = ((False, None), (True, None), (False, "a@x"), (True, "b@x"))
    files = tuple(
        AttachmentRef(
            filename=f"{number}", mime="image/png", sha256="0", size=1, file_id="f", inline=inline, content_id=name
        )
        for number, (inline, name) in enumerate(kinds)
    )
    database.message("msg_1", headers=MessageHeaders(attachments=files))
    message = preparing._find(database.tx, MIA, thread_id=None, message_id="msg_1").message
    assert [one.filename for one in preparing._carried(message)] == ["0", "1", "2"]
