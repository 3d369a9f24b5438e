"""The stand-in server's answers are held to the product's types: each way to differ from them is found."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web import fake_mail
from tests.web.fake_server import FakeAnswers
from tests.web.fake_truth import lies_in_answer, lies_in_news, lies_in_question

LABEL = {"id": "Label_1", "name": "Harbour"}


def test_what_the_stand_in_server_says_by_itself_is_what_the_product_says() -> None:
    answers = FakeAnswers()
    answers.call("mail.accounts", {})
    answers.call("mail.threads", {"section": "inbox"})
    answers.call("mail.thread", {"id": "thr_00"})
    answers.call("mail.archive", {"threadIds": ["thr_00"]})
    answers.call("mail.send", {"accountId": fake_mail.MIA, "to": ["a@sea.example"], "subject": "s", "html": ""})
    answers.call("mail.outgoing", {})
    assert answers.lies == []


@pytest.mark.parametrize(
    ("answer", "lie"),
    [
        (LABEL, None),
        ({**LABEL, "colour": None}, "mail.createLabel: $.colour is not in the product"),
        ({**LABEL, "id": 1}, "mail.createLabel: Expected `str`, got `int` - at `$.id`"),
        ({"id": "Label_1"}, "mail.createLabel: Object missing required field `name`"),
    ],
)
def test_an_answer_that_the_product_would_not_give_is_found(answer: dict[str, Any], lie: str | None) -> None:
    assert lies_in_answer("mail.createLabel", answer) == ([lie] if lie else [])


def test_a_difference_deep_in_a_list_is_found() -> None:
    row = fake_mail.thread()
    row["labels"] = [{"id": "INBOX", "name": "Inbox"}]
    answer = {"threads": [row], "nextCursor": None}
    assert lies_in_answer("mail.threads", answer) == ["mail.threads: $.threads[0].labels[0].color is missing"]


@pytest.mark.parametrize(
    ("name", "given", "lie"),
    [
        ("mail.open", {"threadId": "thr_1"}, None),
        ("mail.open", {"threadId": "thr_1", "quietly": True}, "mail.open knows no quietly"),
        ("mail.open", {}, "mail.open refuses: Object missing required field `threadId`"),
        ("mail.fold", {}, "the product has no mail.fold"),
    ],
)
def test_a_question_that_the_product_would_not_understand_is_found(
    name: str, given: dict[str, Any], lie: str | None
) -> None:
    assert lies_in_question(name, given) == ([lie] if lie else [])


def test_news_that_the_product_would_not_tell_are_found() -> None:
    assert lies_in_news("thread.removed", {"accountId": "acc_1"}) == []
    assert lies_in_news("thread.removed", {}) == ["thread.removed does not tell []"]
    assert lies_in_news("thread.moved", {}) == ["thread.moved does not tell []"]
    thread = {**fake_mail.thread(), "leads": 1}
    told = lies_in_news("thread.changed", {"accountId": "acc_1", "thread": thread})
    assert told == ["thread.changed: Expected `bool`, got `int` - at `$.leads`"]
