"""Writes mail: turns what a person composed into RFC 5322 bytes. The opposite of ``mime``, which can read them back.

Pure functions on records. Owns the header encoder, the form of a message, the policy for outgoing HTML, the text
alternative and the quotation of an original. Nothing here decides who gets a message or when; ``sending`` does.

The modules: ``message`` puts it together; ``headers`` writes fields, ``addresses`` reads recipients, ``outgoing_html``
sanitizes for sending, ``text`` derives the text, ``quoting`` quotes an answered or forwarded message.
"""

from svc.formats.writing.addresses import (
    Recipients,
    ascii_domain,
    mailbox_text,
    parse_mailboxes,
    recipients,
    sendable_address,
)
from svc.formats.writing.headers import NotAsMeant, references_of
from svc.formats.writing.message import Attached, Composed, compose, content_id_of, encoded_size
from svc.formats.writing.outgoing_html import OutgoingHtml, outgoing_html
from svc.formats.writing.quoting import Original, QuoteKind, bare_subject, forward_subject, quote, reply_subject
from svc.formats.writing.text import text_alternative

__all__ = [
    "Attached",
    "Composed",
    "NotAsMeant",
    "Original",
    "OutgoingHtml",
    "QuoteKind",
    "Recipients",
    "ascii_domain",
    "bare_subject",
    "compose",
    "content_id_of",
    "encoded_size",
    "forward_subject",
    "mailbox_text",
    "outgoing_html",
    "parse_mailboxes",
    "quote",
    "recipients",
    "references_of",
    "reply_subject",
    "sendable_address",
    "text_alternative",
]
