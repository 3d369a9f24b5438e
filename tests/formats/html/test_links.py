"""Links that show one address and lead to another, and the many that only look like that."""

from __future__ import annotations

import pytest

from svc.formats.html import sanitize
from svc.formats.html.links import MAX_WARNINGS, same_registrant


def warning(shown: str, leads_to: str = "https://evil.test/x") -> tuple[str, ...]:
    return sanitize(f"<p><a href='{leads_to}'>{shown}</a></p>").warnings


@pytest.mark.parametrize(
    "shown",
    [
        "example.com",
        "https://example.com",
        "HTTPS://EXAMPLE.COM/login?x=1#y",
        " https://example.com/ ",
        "&lt;https://example.com&gt;",
        "“example.com”",
        "exam<b>ple</b>.c<i>om</i>",
        "exam&#8203;ple.com",
        "example&shy;.com",
        "\u202eexample.com",
        "ann@example.com",
        "http://example.com:8080/",
        "http://me:pw@example.com/",
        "<span><font color=red>example.com</font></span>",
        "example.com/login",
    ],
)
def test_a_link_that_shows_one_host_and_goes_to_another_is_told(shown: str) -> None:
    assert warning(shown) == ("A link shows example.com but goes to evil.test",)


@pytest.mark.parametrize(
    ("shown", "leads_to"),
    [
        ("Click here", "https://evil.test/"),
        ("", "https://evil.test/"),
        ("example.com", "https://example.com/"),
        ("example.com", "https://www.example.com/"),
        ("www.example.com", "https://click.example.com/?u=1"),
        ("https://EXAMPLE.com", "http://example.com:8080/"),
        ("bücher.example", "https://xn--bcher-kva.example/"),
        ("example.co.uk", "https://shop.example.co.uk/"),
        ("report.pdf", "https://evil.test/report"),
        ("Node.js", "https://nodejs.test/"),
        ("See example.com for more", "https://evil.test/"),
        ("1.5", "https://evil.test/"),
        ("e.g.", "https://evil.test/"),
        ("ann@example.com", "mailto:ann@example.com"),
        ("ann@example.com", "mailto:bob@mail.example.com?subject=x"),
        ("example.com", "mailto:"),
        ("example.com" + " x" * 300, "https://evil.test/"),
    ],
)
def test_an_ordinary_link_is_not_told(shown: str, leads_to: str) -> None:
    assert warning(shown, leads_to) == ()


@pytest.mark.parametrize(
    ("shown", "leads_to", "told"),
    [
        ("ann@example.com", "mailto:ann@evil.test", "A link shows example.com but goes to evil.test"),
        ("www.example.com", "https://evil.test", "A link shows www.example.com but goes to evil.test"),
        ("a.co.uk", "https://b.co.uk", "A link shows a.co.uk but goes to b.co.uk"),
        ("example.com", "https://example.com.evil.test", "A link shows example.com but goes to example.com.evil.test"),
        ("example.com", "https://93.184.215.14/", "A link shows example.com but goes to 93.184.215.14"),
        ("example.com", "//EVIL.test\\x", "A link shows example.com but goes to evil.test"),
        ("example.com", "https://ex\u0430mple.com/", "A link shows example.com but goes to ex\u0430mple.com"),
    ],
)
def test_names_are_compared_by_what_is_registered(shown: str, leads_to: str, told: str) -> None:
    assert warning(shown, leads_to) == (told,)


def test_links_in_links_and_cells_are_each_judged_by_themselves() -> None:
    html = (
        "<a href=https://evil.test/1>one.example<table><tr><td><a href=https://two.example/>two.example</a></table></a>"
    )
    assert sanitize(html).warnings in ((), ("A link shows one.example but goes to evil.test",))
    unclosed = "<a href=https://evil.test/1>one.example<a href=https://evil.test/2>two.example"
    assert sanitize(unclosed).warnings == (
        "A link shows one.example but goes to evil.test",
        "A link shows two.example but goes to evil.test",
    )


def test_a_few_warnings_are_enough_and_none_is_said_twice() -> None:
    assert len(sanitize("".join(f"<a href=//evil.test>{n}a.example</a>" for n in range(50))).warnings) == MAX_WARNINGS
    assert len(sanitize("<a href=//evil.test>a.example</a>" * 50).warnings) == 1


def test_links_without_an_end_cost_no_more_than_others() -> None:
    html = "<a href=https://evil.test/>" + "a." * 200_000
    assert sanitize(html).warnings == ()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("mail.example.org", "www.example.org", True),
        ("example.org", "www.EXAMPLE.org.", True),
        ("example.org", "example.com", False),
        ("a.example.co.uk", "b.example.co.uk", True),
        ("example.co.uk", "evil.co.uk", False),
        ("co.uk", "example.co.uk", False),
        ("a.example.de", "b.example.de", True),
        ("a.com.evil.example", "a.com", False),
        ("bücher.example", "xn--bcher-kva.example", True),
    ],
)
def test_two_hosts_are_of_one_registrant_by_what_can_be_registered(one: str, other: str, same: bool) -> None:
    assert same_registrant(one, other) is same
    assert same_registrant(other, one) is same
