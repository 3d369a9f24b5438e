"""What sanitized HTML must be, whatever it was made from: read by another parser, checked against its own lists."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any, Final

import html5lib

from svc.formats.html import CleanHtml

_ELEMENT_NAMES: Final = """
    a abbr acronym address article aside b bdi big blockquote br caption center cite code col colgroup dd del dfn div
    dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i img ins kbd li main mark nav nobr ol
    p pre q rp rt ruby s samp section small span strike strong sub sup table tbody td tfoot th thead time tr tt u ul
    var wbr
"""
_ATTRIBUTE_NAMES: Final = """
    align alt bgcolor border bordercolor cellpadding cellspacing clear color colspan data-fold data-remote dir face
    height href hspace lang noshade nowrap rel reversed role rowspan size span start style target title type valign
    value vspace width
"""
_ELEMENTS: Final = frozenset(_ELEMENT_NAMES.split())
_ATTRIBUTES: Final = frozenset(_ATTRIBUTE_NAMES.split())
_LINK: Final = re.compile(r"(?:https?://[^/\\@]|mailto:)")
_BAD_STYLE: Final = re.compile(
    r"[\\@<>{}&!]|/\*|url|src|expression|image|binding|behavior|script|(?<!list-style-)position|fixed;|absolute|sticky"
    r"|z-index|import|calc\(|var\(|attr\(|env\(|(?<![#\w])[0-9]{6}",
    re.IGNORECASE,
)


def assert_harmless(clean: CleanHtml) -> None:
    """Nothing in it runs, fetches, submits, covers, or leads anywhere but to the web or to a mail."""
    clean.html.encode()  # no half characters
    for element in _elements(clean.html):
        name = element.tag
        assert isinstance(name, str), "a comment or a processing instruction came through"
        assert name in _ELEMENTS, name
        assert set(element.attrib) <= _ATTRIBUTES, (name, element.attrib)
        assert not _BAD_STYLE.search(element.attrib.get("style", "")), element.attrib["style"]
        if "href" in element.attrib:
            assert name == "a"
            assert _LINK.match(element.attrib["href"]), element.attrib["href"]
        if name == "a":
            assert element.attrib["target"] == "_blank"
            assert element.attrib["rel"] == "noopener noreferrer"
        if "data-remote" in element.attrib:
            assert name == "img"
            assert int(element.attrib["data-remote"]) < len(clean.remote_images)
        assert element.attrib.get("data-fold", "") == ""
        if name == "img":
            assert "data-remote" in element.attrib
    for address in clean.remote_images:
        assert re.match(r"https?://[^/\\@]", address), address
    assert len(clean.remote_images) <= clean.blocked_images


def visible_text(html: str) -> str:
    return " ".join(" ".join(parse(html).itertext()).split())


def _elements(html: str) -> Iterator[Any]:
    yield from list(parse(html).iter())[1:]


def parse(html: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return html5lib.parseFragment(html, treebuilder="etree", namespaceHTMLElements=False)
