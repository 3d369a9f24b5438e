"""A kind of configuration: which pages belong to it, and how a page is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from svc.configuring.faults import Fault
from svc.configuring.values import Fields
from svc.plugins import PageKind

__all__ = ["Fault", "Kind", "Read"]

T = TypeVar("T")


Read = Callable[[Fields, str], T]
"""Makes a value from the fields of the front matter and the text below it. Raises :class:`Fault`."""


@dataclass(frozen=True, kw_only=True)
class Kind(Generic[T]):
    """The pages right below ``folder`` (``mail-rules/news``, and nothing deeper). ``in_plugins``: what a plugin calls
    them. ``own_word``: they act by themselves, so what holds text of others waits until a person vouches for it.
    """

    folder: str
    read: Read[T]
    in_plugins: PageKind | None = None
    own_word: bool = False
