"""The demo world: the mail of a small design studio by the sea, for ``SVC_SEED=mock-world`` and for tests.

Three mailboxes of one person: her own at the studio, the studio's shared one, and her private one. All people in it are
made up, and every address ends in ``.example``. Mail by people is in ``letters/*.toml``, mail by programs in
``pages/*.html``, harmful mail in ``hostile.py``. Deterministic: the same ``now`` gives the same bytes, and only this
package's own files are read.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import Final

import msgspec

from svc.clock import Millis
from svc.demo.mail import hostile
from svc.demo.mail.compose import LetterWriter
from svc.demo.mail.model import Conversation, FixtureMailbox, FixtureMessage, Letters, Mailboxes, MailboxSpec, Person
from svc.mail.providers.seam import ProviderLabel

__all__ = ["FixtureMailbox", "FixtureMessage", "mailboxes"]


def mailboxes(now: Millis, *, authority: str) -> tuple[FixtureMailbox, ...]:
    """Every mailbox of the world at the time ``now``; the oldest mail is two years old, the newest minutes.
    ``authority``: the name of their server in its authentication results."""
    return tuple(_mailbox(spec, now, authority) for spec in _mailbox_specs())


def _mailbox(spec: MailboxSpec, now: Millis, authority: str) -> FixtureMailbox:
    owner = _people()[spec.owner]
    writer = LetterWriter(owner=spec.owner, authority=authority, now=now, people=_people(), pages=_pages())
    messages = [message for name in spec.letters for one in _conversations(name) for message in writer.messages(one)]
    messages += [writer.raw_message(letter) for letter in hostile.LETTERS.get(spec.owner, ())]
    labels = [ProviderLabel(id=one.id, name=one.name, system=False, color=one.color) for one in spec.labels]
    return FixtureMailbox(
        address=owner.address,
        name=owner.name,
        labels=tuple(labels),
        messages=tuple(sorted(messages, key=lambda message: (message.received_at, message.provider_id))),
    )


_HERE: Final = resources.files(__name__)


@lru_cache(maxsize=1)
def _mailbox_specs() -> tuple[MailboxSpec, ...]:
    return msgspec.toml.decode(_HERE.joinpath("mailboxes.toml").read_bytes(), type=Mailboxes).mailbox


@lru_cache(maxsize=1)
def _people() -> dict[str, Person]:
    return msgspec.toml.decode(_HERE.joinpath("people.toml").read_bytes(), type=dict[str, Person])


@lru_cache(maxsize=1)
def _pages() -> dict[str, str]:
    return {page.name: page.read_text("utf-8") for page in _HERE.joinpath("pages").iterdir()}


@lru_cache
def _conversations(name: str) -> tuple[Conversation, ...]:
    return msgspec.toml.decode(_HERE.joinpath("letters", f"{name}.toml").read_bytes(), type=Letters).conversation
