"""The pieces of a text whose vectors are made: none too long for a model, each with what the whole is about before it.

Pure functions. :data:`CUT` names the way; whoever changes it makes all that was made before another form.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

CUT: Final = 1
PIECE_CHARS: Final = 2_000
"""Of one piece: small models read 512 tokens and no more."""
HEAD_CHARS: Final = 300
MAX_MAIL_PIECES: Final = 4
"""Of a mail. Beyond: the rest is not found by meaning, only by its words."""
MAX_PAGE_PIECES: Final = 32
"""Of a page. Beyond: the rest is not found by meaning, only by its words."""
MAIL_CHARS: Final = MAX_MAIL_PIECES * PIECE_CHARS
PAGE_CHARS: Final = MAX_PAGE_PIECES * PIECE_CHARS
CHARS_A_TOKEN: Final = 4
"""About, for what is expected; what is paid is what the vendor counts."""
_LOOK_BACK_CHARS: Final = 400
_NOTHING: Final = "(no text)"


@dataclass(frozen=True, kw_only=True)
class Piece:
    part: int
    text: str

    @property
    def digest(self) -> bytes:
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).digest()[:16]


def pieces_of(head: str, text: str, *, most: int) -> list[Piece]:
    """At least one, at most ``most``."""
    head = head.strip()[:HEAD_CHARS]
    cut = [part for _, part in zip(range(most), _cut(text.strip()), strict=False)] or [""]
    return [Piece(part=part, text=f"{head}\n\n{one}".strip() or _NOTHING) for part, one in enumerate(cut)]


def _cut(text: str) -> Iterator[str]:
    """At a paragraph, a line or a blank near the end of each piece, where there is one."""
    start = 0
    while start < len(text):
        end = start + PIECE_CHARS
        if end < len(text):
            found = (text.rfind(sign, end - _LOOK_BACK_CHARS, end) for sign in ("\n\n", "\n", " "))
            end = next((at for at in found if at > start), end)
        if piece := text[start:end].strip():
            yield piece
        start = end
