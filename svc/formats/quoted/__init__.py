"""What a mail repeats of earlier ones: the lines that announce a quotation, headers of what is answered, signatures.

Pure, and linear in what is looked at, whatever that is: each line is looked at by its first characters, and together
with few others. Used by what a row shows of a mail (:mod:`svc.formats.snippet`) and by what an open mail folds away.
"""

from __future__ import annotations

from svc.formats.quoted.announcing import announced, announces
from svc.formats.quoted.folding import folds_at, folds_from
from svc.formats.quoted.marks import is_forward, is_forwarded, is_header, is_ordinary, is_original, is_ruler

__all__ = [
    "announced",
    "announces",
    "folds_at",
    "folds_from",
    "is_forward",
    "is_forwarded",
    "is_header",
    "is_ordinary",
    "is_original",
    "is_ruler",
]
