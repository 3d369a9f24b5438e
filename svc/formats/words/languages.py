"""Detects the language of a text by its function words, which every text of a language contains.

There is one language per message; it decides the forms of the message's words (``forms.py``). A text that is too short,
or mixed, or in a language that is not listed, has none; its words may then be of any language.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Final

UNKNOWN: Final = ""

MIN_SMALL_WORDS: Final = 3
"""The least number of different function words: fewer may come from a name or a quoted title."""

_SMALL_WORDS: Final[dict[str, str]] = {
    "da": "af alle alt at blev bliver da de deres det dig eller en er et for fra få han har havde hvis hvor ikke ingen"
    " jeg kan kunne man med meget mig mit nogle noget nu også om os på sig skal som så til ud var ved vi vil være",
    "de": "aber alle als am an auch auf aus bei bin bis bitte da dass das dem den der des die dir durch ein eine einem"
    " einen einer es für haben hat ich ihnen ihr ihre im in ist ja kann mehr mich mir mit nach nicht noch nur oder"
    " schon sehr sein sich sie sind so über um und uns unter von vor was wenn wie wir wird wurde zu zum zur",
    "en": "a about after all also am an and any are as at be been but by can could did do does for from had has have he"
    " her his how i if in into is it its just me more my no not of on one only or other our out she should so some than"
    " that the their them then there these they this to up was we were what when which who will with would you your",
    "es": "a al algo como con cuando de del desde donde el ella en entre era es esta este esto está están fue ha hasta"
    " hay la las le lo los me mi muy más ni no nos o para pero por porque que qué se ser si sin sobre son su sus sí"
    " también te tiene todo todos tu un una uno y ya yo",
    "fi": "ei ettei että ennen hän he ja jo joka jos jotka kaikki kanssa kuin kun me mikä minun minä mitä mukaan mutta"
    " myös niin nyt ole olen oli olisi on ovat sekä se sen sinun sinä sitä tai tämä tämän tässä vain vielä",
    "fr": "à ai au aux avec avez avons bien bonjour c ce ces cette comme d dans de des du elle en est et été être fait"
    " il ils j je l la le les leur lui mais me mes moi mon même n ne nos notre nous on ont ou où par pas plus pour qu"
    " que qui sa sans se ses si son sont sur ta te tous tout très tu un une vos votre vous y",
    "it": "a ai al alla alle anche c che chi ci come con così da dal dalla degli dei del della delle di dove e ed era"
    " essere gli ha hanno ho i il in io l la le lei lo loro lui ma mi mia mio molto ne nel nella noi non o ogni per"
    " perché più quando questa questo se senza si sia sono su sul sulla ti tra tu tutti un una uno vi voi è",
    "nl": "aan al als altijd bij daar dan dat de deze die dit door een en er ge geen had heb hebben heeft hem het hier"
    " hij hoe ik in is ja je jij jullie kan maar me meer met mij mijn na naar niet nog nu of om ons onze ook op over te"
    " tot u uit uw van veel voor waar was wat we wel werd wij worden wordt ze zich zij zijn zo zou",
    "no": "alle at av ble blir da de deg den denne der deres det dette eller en er et etter for fra før ha han har hun"
    " hva hvis hvor ikke jeg kan kunne man med meg mer mye nå når og også om opp oss på seg skal som så til ut var ved"
    " vi vil være",
    "pt": "a ao aos as até com como da das de do dos e ela ele em entre era essa esse esta este está eu foi há isso já"
    " lhe mais mas me meu minha muito na nas nem no nos não nós o os ou para pela pelo por porque quando que quem se"
    " sem ser seu seus sobre sua são só também te tem tudo um uma você à é",
    "ru": "а без бы был была были было быть в вам вас во все всё вы где для до его если есть ещё же за и из или их к"
    " как ко когда кто ли мне может мы на нам нас не нет но о об он она они от по при с со так также то только у уже"
    " что чтобы это этого я",
    "sv": "alla allt att av blev blir bara de dem den denna det detta dig din du där efter ej eller en ett finns från"
    " för ha han har hade hon hur här i inte jag kan kommer kunde man med men mer mig min mycket ni nu när någon något"
    " och också om oss på sedan sig sin ska skulle som så till upp ut utan var vad vi vid vill är över",
}  # fmt: skip
LANGUAGES: Final = tuple(_SMALL_WORDS)
"""Two-letter codes (ISO 639-1)."""

_BY_LANGUAGE: Final = {language: frozenset(words.split()) for language, words in _SMALL_WORDS.items()}


def language_of(words: Set[str]) -> str:
    """The language of a text with these lower-case words; :data:`UNKNOWN` if two languages are equally likely, or there
    are too few function words."""
    counted = sorted(((len(words & small), language) for language, small in _BY_LANGUAGE.items()), reverse=True)
    (most, language), (next_most, _) = counted[:2]
    return language if most >= MIN_SMALL_WORDS and most > next_most else UNKNOWN
