"""Recognizes single lines by which programs separate a mail from what it repeats: rulers, headers, "Original Message".

The sender of a forward wants to show the forwarded mail; an answered mail is known already. So the two cases are
distinguished, as far as their words allow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_letters, digits
from typing import Final, Literal

MAX_MARK_CHARS: Final = 120
MAX_NAME_CHARS: Final = 40
MAX_HEADER_LINES: Final = 14

Header = Literal["from", "sent", "to", "subject", "other"]

_ORIGINAL: Final = re.compile(
    r"\W{2,40}?(?:original message|reply message|original appointment|urspr(?:ü|ue)ngliche (?:nachricht|e-mail)"
    r"|message d'origine|message original|mensaje original|messaggio originale|mensagem original"
    r"|oorspronkelijk bericht|originalmeddelande|oprindelig meddelelse|opprinnelig melding|alkuperäinen viesti"
    r"|исходное сообщение|oryginalna wiadomość"
    r"|元のメッセージ|オリジナルメッセージ|原始邮件|原始郵件|원본 메시지)\W{0,40}",
    re.IGNORECASE,
)
_FORWARD: Final = re.compile(
    r"\W{2,40}?(?:forwarded message|forwarded by\b.{0,80}|begin forwarded message|weitergeleitete nachricht"
    r"|message transf[ée]r[ée]|mensaje reenviado|messaggio inoltrato|mensagem encaminhada|doorgestuurd bericht"
    r"|vidarebefordrat meddelande|пересылаемое сообщение|転送メッセージ|转发的邮件|轉寄郵件|전달된 메시지)\W{0,40}"
    r"|(?:begin forwarded message|anfang der weitergeleiteten nachricht|début du message (?:réexpédié|transféré)"
    r"|inizio messaggio inoltrato|inicio del mensaje reenviado|begin doorgestuurd bericht"
    r"|início da mensagem encaminhada"
    r"|転送されたメッセージ|以下是转发的邮件) ?[:：]?",
    re.IGNORECASE,
)
_IN_WORDS: Final = frozenset(f"{ascii_letters}{digits}_")
"""A quick check: no mark of the first kind begins with one of these, but nearly every line of a text does."""
_NO_FORWARD: Final = _IN_WORDS - frozenset("abdiABDI")
_ORDINARY: Final = re.compile(r"(?:[CE-HJ-Zce-hj-z]|[A-Za-z][\t -/;-~]{60})[\t -/;-~]*")
"""ASCII without digits and colons. The words that mark a forwarded mail begin with A, B, D or I, and are short."""
_FORWARD_SUBJECT: Final = re.compile(
    r"\s{0,8}\[?(?:fwd?|wg|tr|rv|i|enc|doorst|vs|vl|vb|vid|πρθ|ynt|转发|轉寄|转|전달) ?[:：]", re.IGNORECASE
)
_RULER: Final = re.compile(r"[\s\-=_*~#+.·•—–─━═|<>^/\\:]*")

_NAMES: Final[dict[Header, str]] = {
    "from": "from von de da van från fra od от mittente lähettäjä 差出人 发件人 寄件者 보낸",
    "sent": "sent date gesendet datum envoyé enviado inviato verzonden skickat sendt fecha data lähetetty wysłano"
    " отправлено 送信日時 日時 日付 发送时间 發送時間 날짜",
    "to": "to an à a para aan till til do кому vastaanottaja 宛先 收件人 收件者 받는",
    "subject": "subject betreff objet asunto oggetto assunto onderwerp ämne emne temat тема aihe 件名 主题 主旨 제목",
    "other": "cc bcc reply-to kopie copie importance priority kopia копия 抄送 참조",
}
_HEADERS: Final[dict[str, Header]] = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_AROUND: Final = " \t*>|_\xa0"


def is_ordinary(line: str) -> bool:
    """A quick check for lines that are no mark of any kind and announce nothing, for a line without blanks around it:
    it begins with a letter, and has neither digits nor a colon. Most lines of a mail are of this kind."""
    return _ORDINARY.fullmatch(line) is not None


def is_original(line: str) -> bool:
    """Whether the answered mail follows after this line."""
    return len(line) <= MAX_MARK_CHARS and line[:1] not in _IN_WORDS and _ORIGINAL.fullmatch(line) is not None


def is_forward(line: str) -> bool:
    """Whether a forwarded mail follows after this line."""
    return len(line) <= MAX_MARK_CHARS and line[:1] not in _NO_FORWARD and _FORWARD.fullmatch(line) is not None


def is_forwarded(subject: str) -> bool:
    """Whether a mail with this subject forwards another. Outlook separates answered and forwarded mails in the same
    way."""
    return _FORWARD_SUBJECT.match(subject) is not None


def is_ruler(line: str) -> bool:
    """Whether the line says nothing: it is empty, or drawn of signs. A long ruler that ends in words does not count."""
    return _RULER.fullmatch(line) is not None


def is_header(line: str) -> bool:
    """Whether it has the form of a line in a mail's header."""
    return header_of(line) is not None


def header_of(line: str) -> Header | None:
    """The kind of header line, in one of many languages."""
    name, colon, _ = line[:MAX_NAME_CHARS].replace("：", ":").partition(":")
    return _HEADERS.get(name.strip(_AROUND).casefold()) if colon else None


def begins_header_of_mail(lines: Sequence[str], at: int) -> bool:
    """Whether the header of another mail begins here, as Outlook writes it: sender, subject, and date or recipients.

    Long lists of recipients go on over several lines.
    """
    if header_of(lines[at]) not in ("from", "sent"):
        return False
    found: set[Header | None] = set()
    for line in lines[at : at + MAX_HEADER_LINES]:
        kind = header_of(line)
        if kind is None and not line.strip() and len(found) > 2:
            break
        found.add(kind)
    return {"from", "subject"} <= found and bool({"sent", "to"} & found)
