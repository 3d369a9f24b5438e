"""The sanitizer's result, the version of its rules, and the policy of the frame that shows it. Records only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

POLICY_VERSION: Final = 8
"""Part of every cache key: raised whenever the same input may come out otherwise."""

FRAME_CSP: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What the web app puts first into the head of the sandboxed frame. Images it has loaded are ``data:`` addresses."""

FOLD: Final = ' data-fold=""'
"""Marks what a mail ends with and its reader knows: a quotation, a signature. No sender's own comes through."""


@dataclass(frozen=True, kw_only=True)
class CleanHtml:
    """HTML for the sandboxed frame.

    ``<img data-remote="2">`` stands for ``remote_images[2]``; the HTML itself names no remote image.
    ``blocked_images`` counts every use of a remote image, those included that have no placeholder: backgrounds,
    posters, images beyond the limit. ``truncated``: the input went over a limit, and its end is missing.
    What carries :data:`FOLD` may be left out at first: something to read is left without it.
    ``warnings``: sentences about links that show one place and lead to another.
    """

    html: str
    blocked_images: int = 0
    remote_images: tuple[str, ...] = ()
    truncated: bool = False
    warnings: tuple[str, ...] = ()
