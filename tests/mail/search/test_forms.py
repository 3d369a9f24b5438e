"""Words are found by their other forms, in each language of the mail, and the very words come first."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.formats.words.forms import MAX_WORD_CHARS, core, is_inflected, stems, stems_in
from svc.formats.words.languages import LANGUAGES, UNKNOWN, language_of
from svc.formats.words.text import folded, indexable
from svc.mail.search import procedures
from svc.mail.search.expanding import MAX_FORMS, forms_of
from svc.mail.search.find import LIMITS
from svc.mail.search.language import parse
from svc.mail.search.model import COLUMNS, Column
from svc.mail.search.plan import account_word
from svc.mail.search.vocabulary import entries_of
from svc.mail.search.wire import SearchInput
from tests.support.mailbox import MailSync, mail
from tests.support.service import Service

FORMS = {
    "en": ["invoice invoices invoiced invoicing", "delivery deliveries", "plan plans planned planning"],
    "de": ["Rechnung Rechnungen", "Haus Häuser Hauses", "Angebot Angebote Angeboten"],
    "fr": ["facture factures", "réunion réunions", "développé développées"],
    "es": ["pedido pedidos", "canción canciones", "reunión reuniones"],
    "it": ["fattura fatture", "riunione riunioni", "ordine ordini"],
    "nl": ["rekening rekeningen", "huis huizen", "werken gewerkt"],
    "pt": ["contrato contratos", "entrega entregas", "pagamento pagamentos"],
    "sv": ["räkning räkningar", "möte möten mötet", "avtal avtalet avtalen"],
    "da": ["regning regninger regningen", "aftale aftaler"],
    "no": ["avtale avtaler", "regning regninger"],
    "fi": ["lasku laskut laskun", "kirje kirjeet"],
    "ru": ["договор договора договоры", "встреча встречи встречу"],
}
SENTENCES = {
    "en": "Please have a look at what we wrote about this, and tell us if it is as you would like it.",
    "de": "Bitte sehen Sie sich an, was wir dazu geschrieben haben, und sagen Sie uns, ob es so ist, wie Sie wollen.",
    "fr": "Voici ce que nous avons écrit sur ce sujet, dites-nous si cela vous convient pour la suite, avec les dates.",
    "es": "Esto es lo que hemos escrito sobre el tema, por favor díganos si está bien como se ha hecho hasta ahora.",
    "it": "Questo è quello che abbiamo scritto, per favore ci dica se va bene così come è stato fatto finora.",
    "nl": "Dit is wat wij daarover hebben geschreven, laat ons weten of het zo goed is en wat u er nog bij wilt.",
    "pt": "Isto é o que nós escrevemos sobre o assunto, diga se você quer mais alguma coisa ou se não está bem.",
    "sv": "Här är det som vi har skrivit om detta, säg till om det inte är så som du vill att vi ska göra.",
    "da": "Her er det, som vi har skrevet om det, sig til hvis det ikke er sådan, som du vil have, at vi skal.",
    "no": "Her er det som vi har skrevet om dette, si fra hvis det ikke er slik du vil at vi skal gjøre med oss.",
    "fi": "Tässä on se, mitä me olemme kirjoittaneet, ja kerro jos se ei ole niin kuin sinä haluat, kiitos vielä.",
    "ru": "Вот что мы об этом написали, скажите нам, если это не так, как вы бы хотели, и что ещё для вас нужно.",
}


def columns(**texts: str) -> dict[Column, str]:
    return {one: indexable(texts.get(one, "")) for one in COLUMNS}


async def found(mail_sync: MailSync, query: str) -> list[str]:
    wanted = SearchInput(query=query, limit=200)
    answer = await mail_sync.store.read(procedures.answer, mail_sync.principal, wanted=wanted, limits=LIMITS)
    return [thread.subject for thread in answer.threads]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_language_of_a_text_is_told_by_its_small_words(language: str) -> None:
    entries = entries_of(columns(body=SENTENCES[language]))
    assert entries.language == language


def test_a_text_that_tells_no_language_has_none() -> None:
    assert language_of(set()) == UNKNOWN
    assert language_of({"rechnung", "der", "die"}) == UNKNOWN
    assert language_of({"de", "la", "en"}) == UNKNOWN


async def test_each_word_is_found_by_each_of_its_forms_in_a_mailbox_of_all_languages(mail_sync: MailSync) -> None:
    groups = [(language, words.split()) for language, all_words in FORMS.items() for words in all_words]
    for language, words in groups:
        for word in words:
            await mail_sync.inject(raw=mail(word, text=SENTENCES[language]))
    await mail_sync.synced()
    await mail_sync.indexer().catch_up()
    for language, words in groups:
        for word in words:
            subjects = await found(mail_sync, f"{word} ")
            assert set(words) <= set(subjects), (language, word)
            spelled = [one for one in subjects if folded(one.lower()) == folded(word.lower())]
            assert subjects[: len(spelled)] == spelled  # the very word first, with whatever accents
            assert await found(mail_sync, f'"{word}"') == spelled


async def test_so_it_is_in_mail_too_short_to_tell_its_language(mail_sync: MailSync) -> None:
    groups = [words.split() for all_words in FORMS.values() for words in all_words]
    for word in (word for words in groups for word in words):
        await mail_sync.inject(raw=mail(word, text="-"))
    await mail_sync.synced()
    await mail_sync.indexer().catch_up()
    for words in groups:
        for word in words:
            assert set(words) <= set(await found(mail_sync, f"{word} ")), word


@given(
    st.sampled_from(LANGUAGES),
    st.lists(st.sampled_from([word for all_words in FORMS.values() for words in all_words for word in words.split()])),
    st.text(max_size=40),
    st.booleans(),
)
def test_whatever_is_in_a_message_is_in_the_vocabulary_under_a_stem_that_a_search_looks_for(
    language: str, words: list[str], noise: str, is_told: bool
) -> None:
    text = f"{noise} {' '.join(words)} {SENTENCES[language] if is_told else ''}"
    entries = entries_of(columns(subject=text))
    for word in words:
        kept = {stem for stem, plain, _ in entries.forms if plain == folded(word.lower())}
        assert kept <= stems(word.lower(), entries.language)
        assert kept & stems_in(core(word), LANGUAGES)


@pytest.mark.parametrize(
    ("typed", "word"),
    [
        ("Plans", "plans"),
        ("harbour's", "harbour"),
        ("l'avion", "avion"),
        ("dell’accordo", "accordo"),
        ("d'accordo", "accordo"),
        ("O'Brien", ""),
        ("C", ""),
        ("v2", ""),
        ("東京", ""),
        ("x" * (MAX_WORD_CHARS + 1), ""),
    ],
)
def test_the_word_in_what_was_typed(typed: str, word: str) -> None:
    assert core(typed) == word


def test_keys_and_codes_are_no_words() -> None:
    assert not is_inflected("a1b2")
    assert entries_of(columns(subject=f"4711 a1b2 {'x' * (MAX_WORD_CHARS + 1)} ab 東京 🎉")).forms == ()


async def test_the_very_words_come_before_their_forms_wherever_they_stand(service: Service) -> None:
    await service.synced("Oldest", text="one plan of many")
    await service.synced("The plan", text="-")
    await service.synced("Plans", text="-")
    await service.synced("Newest", text="all the plans")
    subjects = [thread["subject"] for thread in (await service.query("mail.search", query="plan "))["threads"]]
    assert subjects == ["The plan", "Oldest", "Plans", "Newest"]


async def test_what_stands_in_quotes_or_is_left_out_or_names_a_person_is_taken_as_it_is_written(
    service: Service,
) -> None:
    await service.synced("One", text="the plan", **{"from": "Ann Walker <ann@x.org>"})
    await service.synced("Two", text="the plans of us", **{"from": "Ann Walkers <bea@x.org>"})

    async def subjects(query: str) -> list[str]:
        return [thread["subject"] for thread in (await service.query("mail.search", query=query))["threads"]]

    assert await subjects("plan ") == ["One", "Two"]
    assert await subjects("body:plans ") == ["Two", "One"]
    assert await subjects('"plan"') == ["One"]
    assert await subjects('"the plans"') == ["Two"]
    assert await subjects("the -plans") == ["One"]
    assert await subjects("from:walker ") == ["One"]
    assert await subjects("walkers ") == ["Two"]
    assert await subjects("subject:plan ") == []


async def test_another_form_is_marked_in_the_passage(service: Service) -> None:
    await service.synced("One", text="we made plans, and a planner")
    (thread,) = (await service.query("mail.search", query="planning "))["threads"]
    assert [piece["text"] for piece in thread["match"]["snippet"] if piece["hit"]] == ["plans"]


async def test_a_word_that_ends_in_what_belongs_to_it_is_found_without_that(service: Service) -> None:
    await service.synced("One", text="the old harbour")
    await service.synced("Deux", text="un avion, et deux")

    async def subjects(query: str) -> list[str]:
        return [thread["subject"] for thread in (await service.query("mail.search", query=query))["threads"]]

    assert await subjects("harbour's ") == ["One"]
    assert await subjects("l'avion ") == ["Deux"]
    assert await subjects("d'avions ") == ["Deux"]


async def test_a_word_of_very_many_forms_is_looked_for_in_as_many_as_are_allowed(mail_sync: MailSync) -> None:
    endings = ["".join(letters) for letters in product(["", "a", "e", "i", "n", "r", "s", "t"], repeat=2)]
    forms = {f"plan{ending}" for ending in endings if ending and "plan" in stems(f"plan{ending}", UNKNOWN)}
    account_id = await mail_sync.synced("plan", *forms)
    await mail_sync.indexer().catch_up()
    assert len(forms) > MAX_FORMS
    looked_for = await mail_sync.store.read(forms_of, parse("plan ", now=0), [account_word(account_id)])
    assert MAX_FORMS - 1 <= len(looked_for["plan"]) <= MAX_FORMS
    assert len(await found(mail_sync, "plan ")) == len(looked_for["plan"]) + 1
