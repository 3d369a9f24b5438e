"""Finds links whose text shows another place than their target: the oldest trick there is.

A link is checked if its whole text is an address or a host name. Names are compared by their registered part
(``example.com`` for ``www.example.com``), which is guessed from their last labels: a list of all registries would
become outdated here, and a wrong guess costs one warning too many or too few.
"""

from __future__ import annotations

import encodings.idna
import re
from dataclasses import dataclass, field
from typing import Final

from svc.formats.text import clean_line, cut

MAX_WARNINGS: Final = 3
MAX_LINK_TEXT_CHARS: Final = 300
MAX_SHOWN_CHARS: Final = 80

_HOST: Final = r"((?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24})"
_SHOWN_PLACE: Final = re.compile(
    rf"(?:https?://|(?=www\.))(?:[^\s/?#@]{{1,200}}@)?{_HOST}\.?(?::\d{{1,5}})?(?:[/?#]\S*)?", re.I
)
_SHOWN_HOST: Final = re.compile(rf"{_HOST}(?:/\S*)?")
_SHOWN_MAILBOX: Final = re.compile(rf"[\w.+-]{{1,64}}@{_HOST}")
_PLACE: Final = re.compile(r"https?://([^/?#\\:]*)", re.I)
_FILE_ENDS: Final = """
    ai avi bmp cc csv doc docx exe gif gz htm html java jpeg jpg js json mov mp md pdf php pl png ppt pptx ps py rar rs
    sh so svg tar ts txt wav xls xlsx xml yaml zip
"""
_FILES: Final = frozenset(_FILE_ENDS.split())
"""Extensions of file names as people write them: ``report.pdf`` is no host, and ``notes.md`` rarely one."""
_SECOND_LEVEL: Final = frozenset(
    {"ac", "co", "com", "edu", "gob", "gov", "gouv", "mil", "ne", "net", "nom", "or", "org"}
)


@dataclass
class Link:
    """A link while it is read: its target, and its text."""

    address: str
    texts: list[str] = field(default_factory=list)
    chars: int = 0

    def show(self, text: str) -> None:
        if self.chars <= MAX_LINK_TEXT_CHARS:
            self.texts.append(text[: MAX_LINK_TEXT_CHARS + 1])
            self.chars += len(text)

    def warning(self) -> str | None:
        if self.chars > MAX_LINK_TEXT_CHARS:
            return None
        text = clean_line("".join(self.texts)).strip(" <>()[]\"'“”‘’.,:;→›»")
        shown = shown_host(text)
        leads_to = _host_of(self.address)
        if shown is None or leads_to is None or same_registrant(shown, leads_to):
            return None
        return f"A link shows {cut(shown, limit=MAX_SHOWN_CHARS)} but goes to {cut(leads_to, limit=MAX_SHOWN_CHARS)}"


def shown_host(text: str) -> str | None:
    """The host that a text names, if the text is nothing else."""
    found = _SHOWN_PLACE.fullmatch(text)
    if found:
        return found[1].lower()
    found = _SHOWN_HOST.fullmatch(text) or _SHOWN_MAILBOX.fullmatch(text)
    host = found[1].lower() if found else None
    return None if host is None or host.rpartition(".")[2] in _FILES else host


def mailbox_hosts(text: str) -> set[str]:
    """The hosts of all mail addresses in a text."""
    return {found[1].lower() for found in _SHOWN_MAILBOX.finditer(text)}


def same_registrant(one: str, other: str) -> bool:
    return _registered(one) == _registered(other)


def _registered(host: str) -> str:
    labels = _ascii(host).lower().removesuffix(".").split(".")
    is_country = len(labels[-1]) == 2
    wanted = 3 if is_country and len(labels) > 2 and labels[-2] in _SECOND_LEVEL else 2
    return ".".join(labels[-wanted:])


def _ascii(host: str) -> str:
    try:
        return ".".join(encodings.idna.ToASCII(label).decode("ascii") if label else "" for label in host.split("."))
    except UnicodeError:
        return host


def _host_of(address: str) -> str | None:
    """The host of an address from :func:`svc.formats.html.address.link_address`."""
    if address.startswith("mailto:"):
        mailbox = address.removeprefix("mailto:").partition("?")[0].replace("%40", "@")
        return mailbox.rpartition("@")[2].lower() or None if "," not in mailbox else None
    found = _PLACE.match(address)
    return found[1].lower() or None if found else None
