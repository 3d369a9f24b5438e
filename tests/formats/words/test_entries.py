"""The entries of a text: what a worker answers is what is computed here."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from svc.formats.words import entries
from svc.formats.words.entries import MAX_WORDS, Entries, entries_of_each, entries_of_text, unpacked
from svc.formats.words.text import folded, indexable

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
"""Also with halves of characters (surrogates), which no encoding takes."""


@given(st.lists(ANY_TEXT, max_size=5))
def test_a_worker_answers_the_same(texts: list[str]) -> None:
    assert [*map(unpacked, entries_of_each(texts))] == [entries_of_text(one) for one in texts]


@given(st.text(max_size=200))
def test_no_stem_and_word_come_twice_and_what_is_written_is_that_word(text: str) -> None:
    forms = entries_of_text(indexable(text)).forms
    assert len({(stem, word) for stem, word, _ in forms}) == len(forms)
    assert all(folded(written or word) == word != written for _, word, written in forms)


def test_a_word_is_kept_as_it_is_written_where_that_is_another() -> None:
    assert ("plan", "plans", "") in entries_of_text("the plans of us all").forms
    german = entries_of_text(indexable("wir haben die Häuser nicht gesehen"))
    assert german.language == "de"
    assert {written for _, word, written in german.forms if word == "hauser"} == {"häuser"}


def test_what_is_no_word_does_not_count_among_the_most_that_are_taken() -> None:
    codes = " ".join(f"a{number}b" for number in range(2 * MAX_WORDS))
    assert [word for _, word, _ in entries_of_text(f"{codes} harbour").forms].count("harbour") >= 1
    assert entries_of_text(codes) == Entries("", ())


def test_what_is_no_word_is_not_remembered() -> None:
    """A stranger may write it as long as a mail can be."""
    before = entries._forms.cache_info().currsize
    entries_of_text(f"a1b2 {'y' * 100_000} {'東京' * 50_000}")
    assert entries._forms.cache_info().currsize == before
