"""One byte range, as RFC 9110 section 14 has it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.errors import Refusal
from svc.files.ranges import requested_range
from svc.protocol import Headers, Request


def asked(header: str | None, *, size: int = 100, if_range: str | None = None) -> tuple[int, int] | None:
    fields = [("range", header)] if header is not None else []
    if if_range is not None:
        fields.append(("if-range", if_range))
    request = Request(method="GET", target="/files/x/content", headers=Headers(fields))
    return requested_range(request, size=size, etag='"tag"')


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("bytes=0-0", (0, 1)),
        ("bytes=10-19", (10, 20)),
        ("bytes=90-", (90, 100)),
        ("bytes=90-1000", (90, 100)),
        ("bytes=-10", (90, 100)),
        ("bytes=-1000", (0, 100)),
        ("bytes=0-1,5-6", None),
        ("bytes=-", None),
        ("bytes=9-1", None),
        ("lines=1-2", None),
        ("bytes=a-b", None),
    ],
)
def test_a_range_is_what_the_rfc_says(header: str | None, expected: tuple[int, int] | None) -> None:
    assert asked(header) == expected


@pytest.mark.parametrize("header", ["bytes=100-", "bytes=200-300", "bytes=-0"])
def test_a_range_without_a_byte_in_it_is_416_with_the_size(header: str) -> None:
    with pytest.raises(Refusal) as caught:
        asked(header)
    assert caught.value.row.status == 416
    assert caught.value.headers == {"content-range": "bytes */100"}


def test_a_part_is_only_served_of_the_same_content() -> None:
    assert asked("bytes=0-9", if_range='"tag"') == (0, 10)
    assert asked("bytes=0-9", if_range='"other"') is None


@given(st.text(max_size=30), st.integers(min_value=0, max_value=10**6))
def test_any_header_gives_a_part_that_lies_within_the_file_or_is_refused(header: str, size: int) -> None:
    try:
        found = asked(header, size=size)
    except Refusal as refusal:
        found, status = None, refusal.row.status
    else:
        status = 200 if found is None else 206
    assert status in {200, 206, 416}
    assert found is None or 0 <= found[0] < found[1] <= size
