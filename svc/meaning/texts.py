"""Cuts a text into pieces for vectors: none too long for a model, each with the subject of the whole text before it.

Pure functions. :data:`CUT` is the number of this method. Changing it gives all existing vectors an old form.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

CUT: Final = 1
PIECE_CHARS: Final = 2_000
"""Characters of one piece: small models read only 512 tokens."""
HEAD_CHARS: Final = 300
MAX_MAIL_PIECES: Final = 4
"""Pieces of a mail. Beyond: the rest is not found by meaning, only by its words."""
MAX_PAGE_PIECES: Final = 32
"""Pieces of a page. Beyond: the rest is not found by meaning, only by its words."""
MAIL_CHARS: Final = MAX_MAIL_PIECES * PIECE_CHARS
PAGE_CHARS: Final = MAX_PAGE_PIECES * PIECE_CHARS
CHARS_A_TOKEN: Final = 4
"""Approximate, for estimates; the cost is what the vendor counts."""
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
    """At least one piece, at most ``most``."""
    head = head.strip()[:HEAD_CHARS]
    cut = [part for _, part in zip(range(most), _cut(text.strip()), strict=False)] or [""]
    return [Piece(part=part, text=f"{head}\n\n{one}".strip() or _NOTHING) for part, one in enumerate(cut)]


def _cut(text: str) -> Iterator[str]:
    """Cuts at a paragraph, a line or a space near the end of each piece, if there is one."""
    start = 0
    while start < len(text):
        end = start + PIECE_CHARS
        if end < len(text):
            found = (text.rfind(sign, end - _LOOK_BACK_CHARS, end) for sign in ("\n\n", "\n", " "))
            end = next((at for at in found if at > start), end)
        if piece := text[start:end].strip():
            yield piece
        start = end
