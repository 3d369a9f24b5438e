"""The output for an open thread: its messages, their parts, and the page where it is filed."""

from __future__ import annotations

import msgspec

from svc.clock import rfc3339
from svc.formats.person import Person
from svc.mail.accounts.acts import Act
from svc.mail.authentication.wire import AuthenticationOut
from svc.mail.proposing.replies import ProposedReply
from svc.mail.threads.wire import LabelOut, ThreadOut
from svc.mail.wire import Id
from svc.people import PageRef
from svc.protocol.rows import Wire


class ThreadInput(Wire, frozen=True):
    id: Id


class PersonOut(Wire, frozen=True):
    name: str
    address: str


class AttachmentOut(Wire, frozen=True):
    """``damaged``: this server can't give its content now."""

    filename: str
    mime: str
    sha256: str
    size: int
    file_id: str
    damaged: bool = False


class InlineOut(Wire, frozen=True):
    """A part that the HTML refers to by ``cid:``. The frame does not show it; it is shown below the message."""

    filename: str
    mime: str
    size: int
    file_id: str
    content_id: str


class FilingOut(Wire, frozen=True):
    page_id: str
    path: str
    title: str


class ProposedReplyOut(Wire, frozen=True):
    """A reply that a rule drafted. ``rule_id``: the rule's page. After approval it goes to these recipients only."""

    id: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    subject: str
    html: str
    rule_id: str


class MessageOut(Wire, frozen=True):
    """``html`` is always sanitized; a blocked image in it carries an index into ``remote_images``.

    ``inline``: the ``attachments`` that the HTML names by ``cid:``. ``images_allowed``: the caller trusts the sender
    with remote images.
    ``can_unsubscribe``: the message names a way to unsubscribe.
    ``authentication``: the result of the origin check; ``None`` for mail that the account sent.
    ``folds``: whether parts of ``html`` are marked ``data-fold``: parts that the reader knows already, such as the
    quoted message and a signature. They are at its end, and some text is left without them. ``folded_line``: the first
    line of ``text`` that folds in this way, counted from 0.
    ``warnings``: sentences for the reader, about parts of this message that may deceive.
    """

    id: str
    from_: PersonOut = msgspec.field(name="from")
    to: tuple[PersonOut, ...]
    cc: tuple[PersonOut, ...]
    bcc: tuple[PersonOut, ...]
    reply_to: tuple[PersonOut, ...]
    subject: str
    sent_at: str
    html: str
    text: str
    blocked_images: int
    remote_images: tuple[str, ...]
    labels: tuple[LabelOut, ...]
    attachments: tuple[AttachmentOut, ...]
    inline: tuple[InlineOut, ...]
    own: bool
    unread: bool
    images_allowed: bool
    warnings: tuple[str, ...]
    authentication: AuthenticationOut | None
    can_unsubscribe: bool
    folds: bool = False
    folded_line: int | None = None


class ActOut(Wire, frozen=True):
    """An action of a person on the thread, in a shared account. ``what``: the name of the step in the undo log, or
    ``sent``; then ``message_id`` is the sent message."""

    by: str
    what: str
    at: str
    message_id: str | None


class ThreadDetailOut(Wire, frozen=True):
    """``acts``: oldest first; empty where the account is not shared."""

    thread: ThreadOut
    filing: FilingOut | None
    messages: tuple[MessageOut, ...]
    proposed_reply: ProposedReplyOut | None
    acts: tuple[ActOut, ...] = ()


def person(person: Person) -> PersonOut:
    return PersonOut(name=person.name, address=person.address)


def act(act: Act) -> ActOut:
    return ActOut(by=act.by, what=act.what, at=rfc3339(act.at), message_id=act.message_id)


def proposed_reply(reply: ProposedReply) -> ProposedReplyOut:
    return ProposedReplyOut(
        id=reply.id, to=reply.to, cc=reply.cc, subject=reply.subject, html=reply.html, rule_id=reply.rule_id
    )


def filing(page: PageRef) -> FilingOut:
    return FilingOut(page_id=page.id, path=page.path, title=page.title)
