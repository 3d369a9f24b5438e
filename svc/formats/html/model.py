"""The sanitizer's result, the version of its rules, and the policy of the frame that shows it. Records only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

POLICY_VERSION: Final = 8
"""Part of every cache key: it is increased when the same input may give another output."""

FRAME_CSP: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""The web app puts this first into the head of the sandboxed frame. Images that it has loaded are ``data:``
addresses."""

FOLD: Final = ' data-fold=""'
"""Marks the end of a mail that its reader knows already: a quotation, a signature. The sender's own ``data-fold`` is
never kept."""


@dataclass(frozen=True, kw_only=True)
class CleanHtml:
    """HTML for the sandboxed frame.

    ``<img data-remote="2">`` stands for ``remote_images[2]``; the HTML itself names no remote image. ``blocked_images``
    counts every use of a remote image, including those without a placeholder: backgrounds, posters, images beyond the
    limit. ``truncated``: the input exceeded a limit, and its end is missing. Parts marked with :data:`FOLD` may be
    hidden at first: something to read is left without them. ``warnings``: sentences about links whose text shows
    another place than their target.
    """

    html: str
    blocked_images: int = 0
    remote_images: tuple[str, ...] = ()
    truncated: bool = False
    warnings: tuple[str, ...] = ()
