"""Cookies of a host that other programs share."""

from __future__ import annotations

import pytest

from svc.protocol.cookies import clear_cookie, cookie, set_cookie
from svc.protocol.messages import Headers


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (["svc_session=abc"], "abc"),
        (["other=1; svc_session=abc; more=2"], "abc"),
        (["other=1;svc_session=abc"], "abc"),
        (["other=1", "svc_session=abc"], "abc"),
        (["svc_session=a=b="], "a=b="),
        (["svc_session="], ""),
        (["svc_session=abc; svc_session=abc"], None),
        (["svc_session=abc", "svc_session=def"], None),
        (["SVC_SESSION=abc"], None),
        (["xsvc_session=abc"], None),
        (["svc_session"], None),
        (["svc_session=a b"], None),
        (["svc_session=caf\xe9"], None),
        (['svc_session="abc"'], None),
        ([";;; =;"], None),
        ([], None),
    ],
)
def test_a_cookie_counts_only_once_and_well_formed(fields: list[str], expected: str | None) -> None:
    assert cookie(Headers([("cookie", field) for field in fields]), "svc_session") == expected


def test_a_cookie_is_never_for_scripts_or_other_sites() -> None:
    assert set_cookie("a", "b", max_age_s=60, secure=True) == (
        "set-cookie",
        "a=b; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure",
    )
    assert clear_cookie("a", secure=False)[1] == "a=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"


@pytest.mark.parametrize(("name", "value"), [("a;b", "c"), ("a", "b;c"), ("a", "b\r\nc"), ("", "c"), ("a", "b c")])
def test_a_value_can_not_break_out_of_its_cookie(name: str, value: str) -> None:
    with pytest.raises(ValueError, match="break out"):
        set_cookie(name, value, max_age_s=1, secure=False)
