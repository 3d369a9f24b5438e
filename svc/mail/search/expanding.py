"""The other forms of the words of a search: of those that the searcher's own mail has, as many as can be looked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.mail.search import queries
from svc.mail.search.forms import core, stems_in
from svc.mail.search.model import Query, Text
from svc.mail.search.plan import has_forms
from svc.mail.search.text import folded, normal
from svc.mail.search.tongues import LANGUAGES, UNKNOWN
from svc.store import ReadTx

MAX_FORMS: Final = 24
"""Of a word, those that most messages have."""

MAX_WORDS: Final = 8
"""The first of a search that are looked for in other forms."""


def forms_of(tx: ReadTx, query: Query, accounts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """By word as it was typed. A word of no other form that there is mail with is left out."""
    texts = [term.what for group in query.groups for term in group if isinstance(term.what, Text) and not term.negated]
    typed = [text.words for text in texts if has_forms(text) and core(normal(text.words))]
    if not typed:
        return {}
    languages = queries.languages(tx, accounts, LANGUAGES) or LANGUAGES
    found = {words: _forms(tx, words, accounts, languages) for words in dict.fromkeys(typed[:MAX_WORDS])}
    return {words: forms for words, forms in found.items() if forms}


def _forms(tx: ReadTx, typed: str, accounts: Sequence[str], languages: tuple[str, ...]) -> tuple[str, ...]:
    """A language's stem counts for the mail in that language, any of them for mail whose language is not known."""
    word = core(normal(typed))
    stems = [(language, stem) for language in languages for stem in stems_in(word, (language,))]
    stems += [(UNKNOWN, stem) for stem in dict.fromkeys(stem for _, stem in stems)]
    found = queries.words_under(tx, accounts, stems, limit=MAX_FORMS)
    return tuple(written for plain, written in found if plain != folded(normal(typed)))
