"""Finds what a mail repeats of earlier mails: lines that announce a quotation, headers of the answered mail,
signatures.

Pure, and linear in any input: each line is looked at by its first characters, and together with few others. It is used
for the snippet in a row of the mail list (:mod:`svc.formats.snippet`), and for the part of an open mail that is folded.
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
