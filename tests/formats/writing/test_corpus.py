"""Real mail, answered and forwarded: what leaves reads back as it was meant, whatever came in."""

from __future__ import annotations

import pytest

from svc.formats.mime import Mailbox, ParsedMessage, parse_message
from svc.formats.person import Person
from svc.formats.text import clean_text
from svc.formats.writing import (
    Attached,
    Original,
    QuoteKind,
    compose,
    quote,
    references_of,
    reply_subject,
    text_alternative,
)
from tests.formats.mime import corpus
from tests.peers.needs import CORPUS, needs

from .letters import composed
from .test_message import assert_transportable
from .test_outgoing_html import assert_fit_to_leave

pytestmark = [pytest.mark.peer, needs(CORPUS), pytest.mark.thorough]


@pytest.mark.parametrize("kind", ["reply", "forward"])
def test_an_answer_to_real_mail_reads_back(kind: QuoteKind) -> None:
    for path in corpus.paths()[::3]:
        message = parse_message(path.read_bytes())
        quoted = quote(original_of(message), kind=kind)
        assert_fit_to_leave(quoted.html.replace(' type="cite"', ""))
        text = text_alternative(quoted.html)
        raw = compose(
            composed(
                subject=reply_subject(message.subject),
                html=quoted.html,
                text=text,
                in_reply_to=message.message_id,
                references=references_of(message.references, parent=message.message_id),
                attachments=tuple(
                    Attached(filename=one.filename, mime=one.mime, content=[one.content]) for one in message.attachments
                ),
            )
        )
        assert_transportable(raw)
        read = parse_message(raw)
        assert (read.subject, read.html, read.text) == (reply_subject(message.subject), clean_text(quoted.html), text)
        assert [one.content for one in read.attachments] == [one.content for one in message.attachments]
        assert read.problems == ()


def original_of(message: ParsedMessage) -> Original:
    return Original(
        sender=person(message.sender or Mailbox(name="", address="")),
        to=tuple(map(person, message.to)),
        cc=tuple(map(person, message.cc)),
        subject=message.subject,
        sent_at=message.date or 0,
        html=message.html,
        text=message.text,
    )


def person(mailbox: Mailbox) -> Person:
    return Person(name=mailbox.name, address=mailbox.address)
