"""The matcher and the pages of rules: what is written is read again, and what matches does so for a reason."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.configuring import parse
from svc.rules.matching import Hit, in_order, match, plan_of
from svc.rules.model import Action, Addresses, Mail, Rule, When, Words
from svc.rules.page import KIND, written
from svc.worker.rules import DECIDE, answers_of, sort_mail
from svc.workflow import Run

MAIL = Mail(
    account="me@example.com",
    sender="ann@shop.example",
    to=frozenset({"me@example.com"}),
    subject="your invoice 17",
    has_attachment=True,
    is_bulk=False,
    list_id="news.shop.example",
    labels=frozenset({"inbox"}),
    text="please pay",
)
line = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=20)
addresses = st.lists(line.map(Addresses), max_size=3).map(tuple)
words = st.lists(line.map(Words), max_size=3).map(tuple)
lines = st.lists(line, max_size=3).map(tuple)
actions = st.lists(
    st.sampled_from([Action("archive"), Action("star"), Action("mark-read"), Action("stop")])
    | st.builds(Action, st.sampled_from(["label", "draft", "task"]), line),
    min_size=1,
    max_size=4,
).map(tuple)
rules = st.builds(
    Rule,
    enabled=st.booleans(),
    order=st.integers(-9, 99),
    account=st.none() | line.map(str.lower).map(str.lower),
    when=st.builds(
        When,
        sender=st.lists(line.map(Addresses), min_size=1, max_size=3).map(tuple),
        to=addresses,
        subject=words,
        has=st.sampled_from([(), ("attachment",)]),
        list=words,
        label=lines,
        words=lines,
    ),
    ask=st.none() | line,
    then=actions,
    except_=addresses,
)


@pytest.mark.thorough
@given(rules, st.text(max_size=50))
def test_a_rule_that_is_written_is_read_again_as_it_was(rule: Rule, text: str) -> None:
    rule = replace(rule, account=rule.account.lower() if rule.account else None)
    _, _, value, fault = parse(KIND, title="", body=written(rule, text))
    assert (fault and fault.reason, value) == (None, rule)


@given(rules)
def test_each_condition_alone_keeps_a_mail_out(rule: Rule) -> None:
    """What matches still does with any condition less, and no rule matches without a reason."""
    found = match(replace(rule, account=None), MAIL)
    if found is not None:
        assert found.because
        for name in ("to", "subject", "has", "list", "label", "words"):
            assert match(replace(rule, account=None, when=replace(rule.when, **{name: ()})), MAIL)
    assert match(replace(rule, account="someone@else.example"), MAIL) is None
    assert match(replace(rule, except_=(Addresses("*"),)), MAIL) is None


@pytest.mark.parametrize(
    ("pattern", "address", "matches"),
    [
        ("ann@shop.example", "ann@shop.example", True),
        ("ann@shop.example", "joann@shop.example", False),
        ("shop.example", "ann@shop.example", True),
        ("shop.example", "ann@evilshop.example", False),
        ("shop.example", "ann@shop.example.evil.test", False),
        ("@Shop.Example", "ann@shop.example", True),
        ("*@*.example", "ann@shop.example", True),
        ("*", "", True),
        ("a.b@shop.example", "axb@shop.example", False),
        ("*" * 200 + "!", "a" * 5_000, False),
        ("*a" * 90 + "!", "a" * 5_000, False),
    ],
)
def test_an_address_is_the_bare_one_and_a_domain_begins_at_its_sign(pattern: str, address: str, matches: bool) -> None:
    assert Addresses(pattern).matches(address) is matches


@given(st.text("ab*", max_size=8), st.text("ab", max_size=8))
def test_a_star_stands_for_any_text_of_any_length(pattern: str, text: str) -> None:
    wanted = fnmatchcase(text, pattern) if "*" in pattern else pattern in text
    assert Words(pattern).matches(text) is wanted


@given(st.lists(st.tuples(st.integers(0, 5), actions), max_size=6))
def test_actions_are_collected_and_resolved_once(given_: list[tuple[int, tuple[Action, ...]]]) -> None:
    hits = in_order(Hit(rule=number, actions=then, because="x") for number, then in given_)
    assert not any(one.what == "stop" for hit in hits[:-1] for one in hit.actions)
    plan = plan_of(hits, stays=False)
    done = [one for hit in hits for one in hit.actions]
    assert plan.archive == any(one.what == "archive" for one in done)
    assert not plan_of(hits, stays=True).archive
    assert len({one.casefold() for one in plan.labels}) == len(plan.labels)
    drafts = [one.value for one in done if one.what == "draft"]
    assert (plan.draft and plan.draft[1]) == (drafts[0] if drafts else None)


@pytest.mark.parametrize(
    ("body", "line", "reason"),
    [
        ("---\nwhen:\n---\n", 2, "there is no condition"),
        ("---\nthen: [archive]\n---\n", 2, "there is no condition"),
        ("---\nwhen:\n  from: ''\nthen: [archive]\n---\n", 3, "not empty"),
        ("---\nwhen:\n  from: a@b.c\n  colour: red\nthen: [archive]\n---\n", 4, "no field colour"),
        ("---\nwhen: {from: a@b.c}\nthen: [destroy]\n---\n", 3, "no action"),
        ("---\nwhen: {from: a@b.c}\nthen:\n  - label:\n---\n", 4, "label needs a text"),
        ("---\nwhen: {from: a@b.c}\nthen: [{file: ../x}]\n---\n", 3, "file:"),
        ("---\nwhen: {from: a@b.c}\nthen: [{file: agents/helper}]\n---\n", 3, "tell svc"),
        ("no front matter", 1, "there is no condition"),
    ],
)
def test_what_can_not_be_a_rule_is_told_with_its_line(body: str, line: int, reason: str) -> None:
    _, _, _, fault = parse(KIND, title="", body=body)
    assert fault is not None
    assert reason in fault.reason
    assert fault.line == line


@given(st.text(max_size=40) | st.sampled_from(['{"q0": "yes"}', '{"q0": 1}', '{"q1": true}', '{"q0": true', "[]", ""]))
def test_a_model_says_yes_or_no_or_nothing_at_all(text: str) -> None:
    with pytest.raises(ValueError, match="did not answer"):
        answers_of(text, {"q0": "Is it?"})
    assert answers_of('Sure: {"q0": true, "q9": 5}', {"q0": "Is it?"}) == {"q0": True}


async def test_what_runs_have_recorded_of_their_decision_is_asked_in_the_same_words() -> None:
    """Else each one that is under way when svc is updated ends: its code was changed without a new version."""
    called: list[tuple[str, Any, str]] = []

    class Recorded:
        async def step(self, name: str, work: object, **_: object) -> Any:
            return {"q0": True}

        async def call(self, call: str, input: Any = None, *, name: str = "") -> Any:
            called.append((call, input, name))
            return {"draft": None}

    hits = [["pag_1", "from a@b.example"]]
    given = {"message": "msg_1", "batch": "", "hits": hits, "questions": {"q0": "Is it?"}, "draft": None}
    await sort_mail(cast(Run, Recorded()), given)
    recorded = {"message": "msg_1", "batch": "", "hits": hits, "answers": {"q0": True}, "problem": ""}
    assert called == [(DECIDE, recorded, "decide")]
