"""Words as the index has them, tried on SQLite's own tokenizer."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.formats.words.text import folded, indexable, normal, phrase, places, restored, spellings
from svc.mail.search.plan import quoted


@pytest.fixture(scope="module")
def index() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            """
            create virtual table mail using fts5 (
                body, tokenize = "unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
            )
            """
        )
        yield connection


def finds(index: sqlite3.Connection, text: str, words: str, *, unfinished: bool = False) -> bool:
    alternatives = [phrase(one, unfinished=unfinished) for one in spellings(words)]
    match = " OR ".join(quoted(*one) for one in alternatives if one)
    index.execute("delete from mail")
    index.execute("insert into mail (rowid, body) values (1, ?)", (indexable(text),))
    return index.execute("select 1 from mail where mail match ?", (match,)).fetchall() == [(1,)]


FOUND = [
    ("Grüße aus München", "münchen"),
    ("Grüße aus München", "munchen"),
    ("Gruesse aus Muenchen", "grüße"),
    ("Gruesse aus Muenchen", "münchen"),
    ("Grüsse", "grüße"),
    ("Grüße", "grüsse"),
    ("Übergabe", "ubergabe"),
    (unicodedata.normalize("NFD", "café à la crème"), "Café"),
    ("café", unicodedata.normalize("NFD", "CAFÉ")),
    ("Donau\u00addampf\u00adschiff", "Donaudampfschiff"),
    ("ann.smith+list@x-y.org wrote", "ann.smith+list@x-y.org"),
    ("ann.smith+list@x-y.org wrote", "x-y.org"),
    ("明日の東京会議について", "東京会議"),
    ("明日の東京会議について", "会"),
    ("明日の東京会議について", "て"),
    ("東京", "東京"),
    ("東京2026年", "2026年"),
    ("会議は東\n京です", "東京"),
    ("ﾊﾝｶｸ文字", "ハンカク"),
    ("ＡＢＣ社", "abc"),
    ("我们明天开会讨论预算", "讨论预算"),
    ("我们明天开会讨论预算", "预算"),
    ("내일회의가 있습니다", "회의"),
    ("내일 회의가 있습니다", "회의가 있습니다"),
    (unicodedata.normalize("NFD", "회의"), "회의"),
    ("ประชุมพรุ่งนี้เช้า", "พรุ่งนี้"),
    ("हिन्दी में मेल", "हिन्दी"),
    ("Søren Sørensen", "sorensen"),
    ("Soren Sorensen", "sørensen"),
    ("SØRENSEN", "sørensen"),
    ("Łódź", "lodz"),
    ("Đorđe", "dorde"),
    ("Straße", "strasse"),
    ("STRASSE", "straße"),
    ("Æther and Œuvre", "aether"),
    ("Æther and Œuvre", "œuvre"),
    ("Þórður Guðmundsson", "thordur gudmundsson"),
    ("Işık", "isik"),
    ("Ğırtlak", "girtlak"),
    ("встреча завтра", "ВСТРЕЧА"),
    ("Party🎉tonight", "🎉"),
    ("Party🎉tonight", "party"),
    ("Party🎉tonight", "party🎉tonight"),
    ("I ❤️ it", "❤"),
    ("I ❤ it", "❤️"),
    ("ok 👍🏽", "👍"),
    ("fly 🇩🇪 now", "🇩🇪"),
    ("𠮷野家で", "𠮷野"),
    ('say "hello" world', 'hello" world'),
]
NOT_FOUND = [
    ("明日の東京会議", "京東"),
    ("東西京都", "東京"),
    ("我们明天开会", "开天"),
    ("Party🎉", "🎈"),
    ("budget", "budge"),
    ("fussball", "fußballer"),
    ("a b", "b a"),
]


@pytest.mark.parametrize(("text", "words"), FOUND)
def test_a_word_is_found_in_its_script(index: sqlite3.Connection, text: str, words: str) -> None:
    assert finds(index, text, words)


@pytest.mark.parametrize(("text", "words"), NOT_FOUND)
def test_another_word_is_not(index: sqlite3.Connection, text: str, words: str) -> None:
    assert not finds(index, text, words)


def test_a_beginning_of_three_letters_is_enough(index: sqlite3.Connection) -> None:
    assert finds(index, "Übergabe", "übe", unfinished=True)
    assert finds(index, "the meeting room", "the mee", unfinished=True)
    assert not finds(index, "the meeting", "me", unfinished=True)


@pytest.mark.parametrize("words", ["", "!!!", "- -", "\u200d", "。。", "\ufe0f"])
def test_what_has_no_word_in_it_is_nothing_to_search_for(words: str) -> None:
    assert phrase(words, unfinished=True) is None


DENSE_TEXT = st.text(alphabet=st.sampled_from("東京都会議a1 \n🎉❤ü-ーンแกี회의"), max_size=40)


@given(st.text() | DENSE_TEXT)
def test_what_was_made_ready_comes_back(text: str) -> None:
    assert restored(indexable(text)) == restored(normal(text)) or "\n" in text
    assert restored(indexable(text)).replace("\n", "") == normal(text).replace("\n", "")


LETTERS = st.text(alphabet=st.sampled_from("øØłĐðßẞæÆœþıĳŀo\u032elaesth "), max_size=20)


@given(LETTERS)
def test_letters_that_stand_for_others_come_back(text: str) -> None:
    assert restored(indexable(text)) == normal(text)


@given(st.text() | LETTERS)
def test_folding_tells_where_every_character_comes_from(text: str) -> None:
    found = places(text)
    assert len(found) == len(folded(text)) + 1
    assert found[-1] == len(text)
    assert all(folded(text)[at] in folded(text[found[at]]) for at in range(len(folded(text))))


@given(DENSE_TEXT, st.data())
def test_any_part_of_a_text_is_found_in_it(index: sqlite3.Connection, text: str, data: st.DataObject) -> None:
    """Where it begins and ends with a word: parts of words of letters are no words."""
    text = normal(text).replace("\n", " ")
    dense = "".join(char if char in "東京都会議ーン회의" else " " for char in text)
    runs = dense.split()
    if runs:
        run = data.draw(st.sampled_from(runs))
        start = data.draw(st.integers(0, len(run) - 1))
        end = data.draw(st.integers(start + 1, len(run)))
        assert finds(index, text, run[start:end])
