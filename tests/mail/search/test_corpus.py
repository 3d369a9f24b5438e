"""Real mail: the index finds exactly the messages that a plain walk through their text finds."""

from __future__ import annotations

import random
import re
import unicodedata

import pytest

from svc.formats.mime import parse_message
from svc.formats.readable import readable_text
from svc.mail.search import procedures
from svc.mail.search.find import LIMITS
from svc.mail.search.wire import SearchInput
from tests.formats.mime import corpus
from tests.peers.needs import CORPUS, needs
from tests.sizes import SEARCHED_WORDS
from tests.support.mailbox import MailSync

pytestmark = [needs(CORPUS), pytest.mark.thorough]


def words_in(text: str) -> list[str]:
    """As a person would split it: letters and digits, without accents and case; a soft hyphen is seen by nobody."""
    seen = unicodedata.normalize("NFD", text.replace("\u00ad", ""))
    bare = "".join(char for char in seen if not unicodedata.combining(char))
    return re.findall(r"[^\W_]+", bare.lower())


async def found(mail_sync: MailSync, query: str) -> set[str]:
    threads: set[str] = set()
    cursor = None
    while True:
        wanted = SearchInput(query=query, limit=200, cursor=cursor)
        answer = await mail_sync.store.read(procedures.answer, mail_sync.principal, wanted=wanted, limits=LIMITS)
        threads |= {thread.id for thread in answer.threads}
        cursor = answer.next_cursor
        if cursor is None:
            return threads


async def test_the_index_finds_what_a_walk_through_the_text_finds(mail_sync: MailSync) -> None:
    texts: dict[str, list[list[str]]] = {}
    for path in corpus.paths():
        raw = path.read_bytes()
        texts[await mail_sync.inject(raw=raw)] = fields_of(raw)
    account_id = await mail_sync.connect()
    await mail_sync.sync_of(account_id).step()
    await mail_sync.indexer().catch_up()
    threads = {str(row[0]): str(row[1]) for row in await mail_sync.rows(_THREADS)}
    assert len(threads) == len(texts)

    rng = random.Random(4)
    known = sorted({word for fields in texts.values() for words in fields for word in words if word.isascii()})
    for word in rng.sample(known, SEARCHED_WORDS):
        having = {threads[mail] for mail, fields in texts.items() if any(word in words for words in fields)}
        assert await found(mail_sync, f'"{word}"') == having, word
        assert await found(mail_sync, f"{word} ") >= having, word
    bodies = [words for fields in texts.values() for words in fields if len(words) > 1]
    for _ in range(SEARCHED_WORDS // 3):
        words = rng.choice(bodies)
        start = rng.randrange(len(words) - 1)
        pair = words[start : start + 2]
        if all(word.isascii() for word in pair):
            having = {threads[mail] for mail, fields in texts.items() if any(follow(pair, one) for one in fields)}
            assert await found(mail_sync, f'"{" ".join(pair)}"') == having, pair


_THREADS = "select provider_message_id, thread_id from mail_messages"


def fields_of(raw: bytes) -> list[list[str]]:
    message = parse_message(raw)
    people = [message.to, message.cc, message.bcc, [message.sender] if message.sender else []]
    return [
        words_in(message.subject),
        *(words_in(" ".join(f"{one.name} {one.address}" for one in group)) for group in people),
        words_in(" ".join(one.filename for one in message.attachments)),
        words_in(readable_text(message.text, message.html)),
    ]


def follow(pair: list[str], words: list[str]) -> bool:
    return any(words[at : at + 2] == pair for at in range(len(words) - 1))
