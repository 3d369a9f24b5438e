"""Which header fields pass the broker."""

from __future__ import annotations

import pytest

from svc.broker import headers
from svc.errors import Invalid
from svc.protocol import Headers


def of_call(*fields: tuple[str, str]) -> dict[str, str]:
    return headers.of_call(Headers(fields), allowed=frozenset({"anthropic-version"}), prefixes=("mcp-",))


def test_what_stands_in_a_list_passes_and_nothing_else() -> None:
    given = [
        ("accept", "text/event-stream"),
        ("anthropic-version", "2023-06-01"),
        ("mcp-session-id", "7"),
        ("x-a", "b"),
    ]
    assert of_call(*given) == dict(given[:3])


@pytest.mark.parametrize(
    "name",
    [
        "authorization",
        "x-api-key",
        "cookie",
        "host",
        "proxy-authorization",
        "proxy-connection",
        "connection",
        "content-length",
        "transfer-encoding",
        "te",
        "upgrade",
        "x-forwarded-for",
        "x-svc-run",
    ],
)
def test_what_frames_a_message_or_says_who_asks_passes_in_no_list(name: str) -> None:
    assert headers.of_call(Headers([(name, "x")]), allowed={name}, prefixes=(name,)) == {}


def test_what_connection_names_stays_though_it_is_listed() -> None:
    assert (
        of_call(("connection", "close, Anthropic-Version"), ("connection", "mcp-a"), ("anthropic-version", "x")) == {}
    )
    assert of_call(("connection", "mcp-a"), ("mcp-a", "x"), ("mcp-b", "y")) == {"mcp-b": "y"}


def test_a_field_given_twice_is_one_list() -> None:
    assert of_call(("accept", "a"), ("accept", "b")) == {"accept": "a, b"}


@pytest.mark.parametrize("value", ["a\nb", "\x00", "é", "x" * 9_000])
def test_a_value_that_no_header_may_hold_is_refused(value: str) -> None:
    with pytest.raises(Invalid, match="accept"):
        of_call(("accept", value))


def test_an_answer_shows_what_is_listed() -> None:
    given = [
        ("content-type", "a"),
        ("set-cookie", "b"),
        ("x-ratelimit-limit", "1"),
        ("retry-after", "2"),
        ("server", "c"),
    ]
    shown = headers.of_answer(Headers(given), prefixes=("x-ratelimit-",))
    assert shown == [("content-type", "a"), ("x-ratelimit-limit", "1"), ("retry-after", "2")]
