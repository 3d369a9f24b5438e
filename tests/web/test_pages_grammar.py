"""The Markdown of pages as HTML, read in Node: CommonMark's examples, ours, hostile ones, and the work they are."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from tests.peers.needs import COMMONMARK_SPEC, NODE, need

READER: Final = Path(__file__).with_name("markdown_reader.mjs")

BECOMES: Final[dict[str, tuple[str, str]]] = {
    "heading": ("# a #\n## b", "<h2>a</h2>\n<h3>b</h3>\n"),
    "struck": ("~~c~~ *~~d~~*", "<p><del>c</del> <em><del>d</del></em></p>\n"),
    "fence": ("```js\n<b>\n```", '<pre tabindex="0"><code class="language-js">&lt;b&gt;\n</code></pre>\n'),
    "front-matter": ("---\nwhen: {from: '*'}\n\n# a\n---\n# b\n", "# a\n</code></pre>\n<h2>b</h2>\n"),
    "open-front-matter": ("---\nwhen: {}\n# a\n", "<hr>\n<p>when: {}</p>\n<h2>a</h2>\n"),
    "front-matter-later": ("a\n\n---\nb: c\n---\n", "<hr>\n<h3>b: c</h3>\n"),
    "ruler-first": ("---\na\n---\n", "<hr>\n<h3>a</h3>\n"),
    "front-matter-in-quote": ("> ---\n> a: b\n> ---\n", "<hr>\n<h3>a: b</h3>\n"),
    "wiki": ("[[a b/c]] [[x|y]]", '<p><a href="/p/a%20b/c">a b/c</a> <a href="/p/x">y</a></p>\n'),
    "wiki-part": ("[[ a / b #part|the *part* ]]", '<p><a href="/p/a/b">the *part*</a></p>\n'),
    "wiki-nowhere": ("[[#part]] [[]] [[a\nb]]", "<p>[[#part]] [[]] [[a\nb]]</p>\n"),
    "wiki-code": ("`[[a]]` \\[[a]]", "<p><code>[[a]]</code> [[a]]</p>\n"),
    "wiki-half-character": ("[[\ud800]]", '<p><a href="/p/%EF%BF%BD">\ufffd</a></p>\n'),
    "picture": ("![a](/files/fil_1/content)", '<p><img src="/files/fil_1/content" alt="a" loading="lazy"></p>\n'),
    "picture-in-link": ("[![a](b.png)](/p/c)", '<p><a href="/p/c">a</a></p>\n'),
    "alone": ("see https://a.example/b?c=1.", 'see <a href="https://a.example/b?c=1" target="_blank"'),
    "brackets": ("(see https://a.example/b_(c).)", 'href="https://a.example/b_(c)"'),
    "in-emphasis": ("*https://a.example/*", '<em><a href="https://a.example/"'),
    "in-link": ("[https://a.example](/p/b)", '<p><a href="/p/b">https://a.example</a></p>\n'),
    "in-word": ("xhttps://a.example http:// ftp://a.example", "<p>xhttps://a.example http:// ftp://a.example</p>\n"),
    "task": (
        "- [ ] a\n- [X] b\n- [z] c",
        '<ul>\n<li class="task"><span class="task-box" role="img" aria-label="To do:"></span>a</li>\n'
        '<li class="task"><span class="task-box" role="img" aria-label="Done:">✓</span>b</li>\n<li>[z] c</li>\n</ul>\n',
    ),
    "ragged-table": ("|a|b|\n|-|-|\n|c|", "<tr>\n<td>c</td>\n<td></td>\n</tr>"),
    "sides": ("|a|b|\n|:-:|-:|\n|c|d|", '<td class="to-center">c</td>\n<td class="to-right">d</td>'),
    "bar-in-cell": ("|a|\n|-|\n|[[b\\|c]]|", '<td><a href="/p/b">c</a></td>'),
    "long-title": (f'[a](/p/b "{"t" * 301}")', '<p><a href="/p/b">a</a></p>\n'),
}
HOSTILE: Final[dict[str, str]] = {
    "script": "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'>",
    "schemes": "[a](javascript:alert(1)) [a](JaVaScRiPt:alert(1)) [a](data:text/html,x) [a](vbscript:x) [a](file:///x)",
    "hidden-schemes": "[a](java&#9;script:x) [a](&#106;avascript:x) [a](<\x01javascript:x>) [a](javascript&colon;x)",
    "reference": "[a] [b][a] ![a]\n\n[a]: javascript:alert(1)\n",
    "other-hosts": "[a](//evil.example) [a](</\\evil.example> '\"onclick=\"x')",
    "pictures": "![a](/files/../x) ![a](/files/fil_1/content?x=1) ![a](data:image/png,x) ![](javascript:x)",
    "autolinks": "<javascript:alert(1)> <data:text/html,x> javascript://x",
    "attributes": '![" onerror="x](/files/fil_1/content) [a](https://a.example/"onclick="x)',
    "language": '```"onclick="x\na\n```',
}
UNITS: Final = (
    "*a ", "**a *b ", "a* *b ", "*_", "[", "[[a", "[a](", "![a](/files/", "![[", "[![", "`a", "`` ` ", "<https://a",
    "https://(((", "http://a.b?", "\\", "- ", "> ", "1. ", "|a", "||\n", "|a\n|-\n", "# #", " ", "\t", "```\n",
    "  - a\n", "a\n", "- a\n\n", "- [ ] a\n", "[a]: /x\n", "[a](<", "&a", "]", "- > \n",
)  # fmt: skip
PAGE_CHARS: Final = 65_536
PARAGRAPH_CHARS: Final = 19_900
STEPS_A_CHARACTER: Final = 1_500
"""The most that any of these takes is half of it; what is quadratic in a page takes tens of thousands."""

AS_TEXT: Final = {21, 31, 201, 308, 309, 344, 475, 476, 477, 491, 494, 524, 536, 642, 643}  # HTML of their own
NO_LINK: Final = {500, 596, 598, 599, 601}  # to addresses that are not safe to follow
BARE: Final = {602, 608, 611}  # addresses that stand by themselves
PAGES: Final = {548, 559}  # [[...]]
NO_PICTURE: Final = {517, 520, 531}  # of another place
OTHERWISE: Final = AS_TEXT | NO_LINK | BARE | PAGES | NO_PICTURE
SECTIONS_OTHERWISE: Final = {"HTML blocks", "Raw HTML", "Images"}


def page_of(unit: str, paragraph_chars: int) -> str:
    paragraph = unit * (paragraph_chars // len(unit))
    return "\n\n".join([paragraph] * (PAGE_CHARS // paragraph_chars))


@pytest.fixture(scope="module")
def read() -> dict[str, Any]:
    need(NODE, COMMONMARK_SPEC)
    questions = {
        "texts": [text for text, _ in BECOMES.values()] + list(HOSTILE.values()),
        "pages": [page_of(unit, chars) for unit in UNITS for chars in (PARAGRAPH_CHARS, PAGE_CHARS)],
    }
    command = ["node", str(READER)]
    done = subprocess.run(command, input=json.dumps(questions), capture_output=True, text=True, check=True)
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


@pytest.mark.thorough
def test_commonmark_is_read_as_its_specification_says(read: dict[str, Any]) -> None:
    differ = {one["number"] for one in read["spec"] if plain(one["ours"]) != as_we_show(one["html"])}
    other_sections = {one["number"] for one in read["spec"] if one["section"] in SECTIONS_OTHERWISE}
    assert len(read["spec"]) == 652
    assert differ - other_sections == OTHERWISE


def test_no_html_of_a_specification_example_becomes_an_element(read: dict[str, Any]) -> None:
    ours = {
        "a",
        "blockquote",
        "br",
        "code",
        "em",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "strong",
        "ul",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
    }
    for one in read["spec"]:
        assert set(re.findall(r"<([^\s/>]+)", one["ours"])) <= ours, one["text"]


@pytest.mark.parametrize("name", BECOMES)
def test_what_is_ours_becomes_its_element(read: dict[str, Any], name: str) -> None:
    assert BECOMES[name][1] in read["html"][list(BECOMES).index(name)]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_leads_nowhere(read: dict[str, Any], name: str) -> None:
    html = read["html"][len(BECOMES) + list(HOSTILE).index(name)]
    for tag, attributes in re.findall(r"<([^\s/>]+)([^>]*)>", html):
        assert tag in {"p", "a", "img", "pre", "code"}
        for key, value in re.findall(r'([^\s=]+)="([^"]*)"', attributes):
            assert key in {"href", "src", "alt", "title", "loading", "target", "rel", "class", "tabindex"}
            if key == "href":
                assert value.startswith(("https://a.example/", "/files/", "/%5Cevil.example"))
            if key == "src":
                assert value == "/files/fil_1/content"


def test_each_page_is_read_in_a_bounded_number_of_steps_for_its_length(read: dict[str, Any]) -> None:
    pages = [(unit, chars) for unit in UNITS for chars in (PARAGRAPH_CHARS, PAGE_CHARS)]
    for (unit, chars), steps in zip(pages, read["steps"], strict=True):
        assert 0 < steps < STEPS_A_CHARACTER * PAGE_CHARS, (unit, chars)


def plain(html: str) -> str:
    """Ours, without what it has besides."""
    return html.replace(' tabindex="0"', "").replace(' target="_blank" rel="noopener noreferrer"', "")


def as_we_show(html: str) -> str:
    """Theirs, with each heading one level lower."""
    lower = re.sub(r"(?<=<h)[1-6](?=>)|(?<=</h)[1-6](?=>)", lambda level: str(min(6, int(level[0]) + 1)), html)
    return lower.replace(" />", ">").replace("<blockquote>\n</blockquote>", "<blockquote></blockquote>")
