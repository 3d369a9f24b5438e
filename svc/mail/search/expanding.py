"""Finds the other forms of the searched words, among the words that the searching person's own mail has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.formats.words.forms import core, stems_in
from svc.formats.words.languages import LANGUAGES, UNKNOWN
from svc.formats.words.text import folded, normal
from svc.mail.search import queries
from svc.mail.search.model import Query, Text
from svc.mail.search.plan import has_forms
from svc.store import ReadTx

MAX_FORMS: Final = 24
"""The forms of one word that are searched for: those that most messages have."""

MAX_WORDS: Final = 8
"""Only this many of a search's first words are searched in other forms."""


def forms_of(tx: ReadTx, query: Query, accounts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Maps each word as it was typed to its other forms. A word without other forms in the mail is left out."""
    texts = [term.what for group in query.groups for term in group if isinstance(term.what, Text) and not term.negated]
    typed = [text.words for text in texts if has_forms(text) and core(normal(text.words))]
    if not typed:
        return {}
    languages = queries.languages(tx, accounts, LANGUAGES) or LANGUAGES
    found = {words: _forms(tx, words, accounts, languages) for words in dict.fromkeys(typed[:MAX_WORDS])}
    return {words: forms for words, forms in found.items() if forms}


def _forms(tx: ReadTx, typed: str, accounts: Sequence[str], languages: tuple[str, ...]) -> tuple[str, ...]:
    """The other forms of one word. Mail in a known language is matched by that language's stem, mail of unknown
    language by the stem of any."""
    word = core(normal(typed))
    stems = [(language, stem) for language in languages for stem in stems_in(word, (language,))]
    stems += [(UNKNOWN, stem) for stem in dict.fromkeys(stem for _, stem in stems)]
    found = queries.words_under(tx, accounts, stems, limit=MAX_FORMS)
    return tuple(written for plain, written in found if plain != folded(normal(typed)))
