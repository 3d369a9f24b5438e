"""What a message says of its own, in one line: for the row of its thread, and for the passage that a search shows.

Own are the new words: no markup, no quotation nor the line that announces one, no header of what is forwarded, no
ruler, no signature, and not the subject or the sender's name once more. A message that says nothing of its own shows
what it carries. Bounded: no more than the first :data:`SOURCE_CHARS` are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from svc.formats.text import clean_line, cut, text_from_html

MAX_SNIPPET_CHARS: Final = 200
SOURCE_CHARS: Final = (4 * 1024, 256 * 1024)
"""How much of a body is looked at: more only where the beginning says too little, as after long style sheets."""
MAX_LINE_CHARS: Final = 2_000
MAX_ANNOUNCEMENT_CHARS: Final = 400

_IS_HTML: Final = re.compile(
    r"\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html|head|body|table|div|p)\b", re.I | re.S
)
_QUOTATION: Final = re.compile(r"<(/?)blockquote\b", re.IGNORECASE)
_QUOTED: Final = re.compile(r"\s{0,8}[>|]")
_RULER: Final = re.compile(r"[\s\-=_*~#+.·•—–─━═|<>^/\\:]*")
_RUN: Final = re.compile(r"[-=_*~#+.·—–─━═]{4,}|(?:[-=_*~#] ){3,}")
_REST_IS_OLD: Final = re.compile(
    r"\W{2,}\s?(?:original message|forwarded message|forwarded by\b.*|begin forwarded message|reply message"
    r"|urspr(?:ü|ue)ngliche (?:nachricht|e-mail)|weitergeleitete nachricht|message d'origine|message original"
    r"|message transf[ée]r[ée]|mensaje original|mensaje reenviado|messaggio originale|mensagem original"
    r"|oorspronkelijk bericht|元のメッセージ|転送メッセージ|オリジナルメッセージ|原始邮件|转发的邮件)\s?\W{0,20}"
    r"|(?:begin forwarded message|anfang der weitergeleiteten nachricht|début du message réexpédié) ?:",
    re.IGNORECASE,
)
_ANNOUNCES: Final = re.compile(
    r"(?:(?:on|am|le|el|il|op|em|den) .{4,300}?"
    r"\b(?:wrote|schrieb|a écrit|écrit|escribió|ha scritto|schreef|escreveu|skrev)\b"
    r".{0,120}?:"
    r"|.{3,200}\b(?:wrote|writes|schrieb|schreibt|a écrit|escribió|ha scritto|schreef|escreveu|skrev) ?:"
    r"|\d{4}[年/.\-].{3,200}(?:[:：]|のメール：?|書きました ?[:：]?|写道 ?[:：]|寫道 ?[:：])"
    r"|.{3,200}(?:さんは書きました|は書きました|wrote on .{4,60}) ?[:：]?)",
    re.IGNORECASE,
)
_MAY_GO_ON: Final = re.compile(r"(?:on|am|le|el|il|op|em|den|\d{4}年) ?.{4,200}", re.IGNORECASE)
_HEADER: Final = re.compile(
    r"\W{0,3}(?:from|to|cc|bcc|sent|date|subject|reply-to|von|an|gesendet|datum|betreff|de|à|envoyé|objet|para|enviado|asunto"
    r"|fecha|差出人|宛先|件名|送信日時|日時|发件人|收件人|主题|发送时间)\W{0,3}[:：].{0,400}",
    re.IGNORECASE,
)
_SIGNATURE: Final = re.compile(r"-- ?")
_PREFIXES: Final = re.compile(r"(?:(?:re|fwd?|aw|wg|sv|tr|rv) ?: ?)+", re.IGNORECASE)


def snippet(text: str, html: str | None, *, subject: str = "", sender: str = "") -> str:
    """One line of at most :data:`MAX_SNIPPET_CHARS`; empty if there is nothing to read."""
    line = ""
    html, known = html or "", _known(subject, sender)
    for limit in SOURCE_CHARS:
        line = _line(text[:limit], html[:limit], known=known)
        if len(line) > MAX_SNIPPET_CHARS or max(len(text), len(html)) <= limit:
            break
    return cut(line, limit=MAX_SNIPPET_CHARS)


def own_words(text: str) -> str:
    """The lines of a plain text that are its writer's own and new; empty where there are none."""
    return "\n".join(_own(text))


def carried_words(text: str) -> str:
    """All that a plain text says, without the marks of quotations, rulers, and headers of what is forwarded."""
    return "\n".join(_carried(text))


def plain(text: str) -> str:
    """A plain text as text: some programs send the source of HTML as such."""
    return text_from_html(text) if _IS_HTML.match(text) else text


def _line(text: str, html: str, *, known: frozenset[str]) -> str:
    text = plain(text)
    return (
        _joined(_own(text), known=known)
        or (_joined(_own(text_from_html(_without_quotations(html))), known=known) if html else "")
        or _joined(_carried(text), known=known)
        or (_joined(_carried(text_from_html(html)), known=known) if html else "")
    )


def _joined(lines: Iterator[str], *, known: frozenset[str]) -> str:
    """One line; what the row says already is left out at its beginning."""
    found: list[str] = []
    chars = 0
    for line in lines:
        if chars > MAX_SNIPPET_CHARS:
            break
        cleaned = clean_line(_RUN.sub(" ", line))
        if cleaned and (found or _compared(cleaned) not in known):
            found.append(cleaned)
            chars += len(cleaned) + 1
    return " ".join(found)


def _own(text: str) -> Iterator[str]:
    lines = [line[:MAX_LINE_CHARS] for line in text.split("\n")]
    at = 0
    said = False
    while at < len(lines):
        line = lines[at].strip()
        if _REST_IS_OLD.fullmatch(line) or (_is_header(line) and _begins_headers(lines, at)):
            return
        if _SIGNATURE.fullmatch(lines[at].rstrip("\r")) and said:
            return
        announced = _announced(lines, at)
        if announced:
            at += announced
            continue
        if not _QUOTED.match(line) and not _RULER.fullmatch(line):
            said = True
            yield line
        at += 1


def _announced(lines: list[str], at: int) -> int:
    """How many lines announce a quotation here: "On …, Ann wrote:", also over two or three of them; or none."""
    line = lines[at].strip()
    if not 4 < len(line) <= MAX_ANNOUNCEMENT_CHARS or not (_ANNOUNCES.fullmatch(line) or _MAY_GO_ON.fullmatch(line)):
        return 0
    for count in (1, 2, 3):
        joined = " ".join(one.strip() for one in lines[at : at + count])
        if _ANNOUNCES.fullmatch(joined) and _quotes_next(lines, at + count):
            return count
    return 0


def _quotes_next(lines: list[str], at: int) -> bool:
    """What follows is quoted, or there is nothing: else "he wrote:" may well be somebody's own words."""
    following = next((line for line in lines[at : at + 4] if line.strip()), None)
    return following is None or bool(_QUOTED.match(following))


def _is_header(line: str) -> bool:
    return _HEADER.fullmatch(line) is not None


def _begins_headers(lines: list[str], at: int) -> bool:
    """Three in a row are the header of another message."""
    following = [line.strip() for line in lines[at + 1 : at + 8] if line.strip()][:2]
    return len(following) == 2 and all(map(_is_header, following))


def _carried(text: str) -> Iterator[str]:
    """What is quoted or forwarded, without its marks."""
    for line in text.split("\n"):
        shown = line[:MAX_LINE_CHARS].strip().lstrip(">| ")
        if not (_RULER.fullmatch(shown) or _REST_IS_OLD.fullmatch(shown) or _is_header(shown)):
            yield shown


def _without_quotations(html: str) -> str:
    """A quotation mark in the place of each block quotation, however nested."""
    kept: list[str] = []
    depth = start = 0
    for tag in _QUOTATION.finditer(html):
        if not tag[1]:
            if depth == 0:
                kept.append(html[start : tag.start()] + "<p>&gt;</p>")
            depth += 1
        elif depth:
            depth -= 1
            start = tag.start()
    if depth == 0:
        kept.append(html[start:])
    return "".join(kept)


def _known(subject: str, sender: str) -> frozenset[str]:
    return frozenset(filter(None, (_compared(subject), _compared(_PREFIXES.sub("", subject)), _compared(sender))))


def _compared(line: str) -> str:
    return clean_line(line).casefold().strip(" .:!-–—*")
