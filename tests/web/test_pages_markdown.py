"""The Markdown of pages in the browser: what becomes what, that nothing else becomes markup, and that it stays bounded.

What the grammar makes of a text is tested without a browser in test_pages_grammar.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.support.browser import fresh_page, settled
from tests.support.process import ServiceProcess

pytestmark = pytest.mark.browser

RENDER = """async text => {
    const base = document.querySelector("script[src$='/app.js']").src.replace("app.js", "");
    const { render, h } = await import(base + "vendor/preact.mjs");
    const { Markdown } = await import(base + "pages/markdown.js");
    const place = document.createElement("div");
    render(h(Markdown, { text }), place);
    return place.firstElementChild.innerHTML;
}"""
CLEAN = """async html => {
    const base = document.querySelector("script[src$='/app.js']").src.replace("app.js", "");
    const { clean } = await import(base + "pages/markdown.js");
    const place = document.createElement("div");
    place.append(clean(html));
    return place.innerHTML;
}"""
REDRAW = """async texts => {
    const base = document.querySelector("script[src$='/app.js']").src.replace("app.js", "");
    const { render, h } = await import(base + "vendor/preact.mjs");
    const { Markdown } = await import(base + "pages/markdown.js");
    const place = document.createElement("div");
    const pictures = [];
    for (const text of texts) {
        render(h(Markdown, { text }), place);
        pictures.push(place.querySelector("img"));
    }
    return { same: pictures.every(one => one && one === pictures[0]), text: place.textContent };
}"""

BECOMES: dict[str, tuple[str, str]] = {
    "heading": ("# a #", "<h2>a</h2>"),
    "emphasis": (
        "*a* __b__ ~~c~~ ***d***",
        "<p><em>a</em> <strong>b</strong> <del>c</del> <em><strong>d</strong></em></p>",
    ),
    "no-emphasis": ("2 * 3 * 4 a_b_c \\*d\\*", "<p>2 * 3 * 4 a_b_c *d*</p>"),
    "crossing": ("*a __b* c__", "<p><em>a __b</em> c__</p>"),
    "code": ("`` a`<b> ``", "<p><code>a`&lt;b&gt;</code></p>"),
    "fence": ("```js\n*a*\n\n<b>\n```", '<pre tabindex="0"><code class="language-js">*a*\n\n&lt;b&gt;\n</code></pre>'),
    "open-fence": ("~~~\na", '<pre tabindex="0"><code>a</code></pre>'),
    "break": ("a  \nb\\\nc\nd", "<p>a<br>\nb<br>\nc\nd</p>"),
    "rule": ("- - -", "<hr>"),
    "quote": ("> a\n>> b", "<blockquote>\n<p>a</p>\n<blockquote>\n<p>b</p>\n</blockquote>\n</blockquote>"),
    "list": ("- a\n  - b\n- c", "<ul>\n<li>a\n<ul>\n<li>b</li>\n</ul>\n</li>\n<li>c</li>\n</ul>"),
    "loose": ("- a\n\n- b", "<ul>\n<li>\n<p>a</p>\n</li>\n<li>\n<p>b</p>\n</li>\n</ul>"),
    "ordered": ("3. a\n4. b", '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>'),
    "wiki": ("[[a b/c]] [[x|y]]", '<p><a href="/p/a%20b/c">a b/c</a> <a href="/p/x">y</a></p>'),
    "link": ("[*a*](/p/b_(c))", '<p><a href="/p/b_(c)"><em>a</em></a></p>'),
    "picture": ("![a](/files/fil_1/content)", '<p><img src="/files/fil_1/content" alt="a" loading="lazy"></p>'),
    "ragged-table": ("|a|b|\n|-|-|\n|c|", "<td>c</td>"),
    "mail": ("<a@b.example>", '<a href="mailto:a@b.example" target="_blank" rel="noopener noreferrer">a@b.example</a>'),
    "sentence": ("(see https://a.example/b_(c).)", 'href="https://a.example/b_(c)"'),
}
NOTHING_OF_IT: tuple[str, ...] = (
    "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'>",
    "[a](javascript:alert(1)) [a](JaVaScRiPt:alert(1)) [a](data:text/html,x) [a](vbscript:x) [a](file:///etc/passwd)",
    "[a](java\tscript:x) [a](\x01javascript:x) [a](//evil.example) [a](/\\evil.example) [a](\\\\evil.example)",
    "![a](https://evil.example/x.png) ![a](/files/../x) ![a](/files/fil_1/content?x=1) ![a](data:image/png,x)",
    "<javascript:alert(1)> <a href='javascript:x'>",
    '![" onerror="x](/files/fil_1/content) [a](https://a.example/"onclick="x)',
)
PAST_THE_GRAMMAR: dict[str, tuple[str, str]] = {
    "script": ("<p>a<script>window.hit = 1</script></p>", "<p>a</p>"),
    "handler": ('<img src="/files/fil_1/content" onerror="window.hit = 1">', '<img src="/files/fil_1/content">'),
    "scheme": ('<a href="javascript:window.hit=1">a</a>', "<a>a</a>"),
    "host": ('<a href="//evil.example">a</a>', "<a>a</a>"),
    "style": ('<p style="color:red" id="x" data-x="y">a</p>', "<p>a</p>"),
    "frame": ('<iframe src="/p/"></iframe><form><input name="x"></form>', ""),
    "kept": ('<a href="/p/b_(c)">a</a><a href="notes/x">b</a>', '<a href="/p/b_(c)">a</a><a href="notes/x">b</a>'),
}


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with ServiceProcess(tmp_path_factory.mktemp("markdown")) as service:
        service.start(PROVIDERS="fake")
        with fresh_page(browser, base_url=service.base) as opened:
            opened.goto("/p/")
            settled(opened)
            yield opened


@pytest.fixture
def render(page: Page) -> Callable[[str], str]:
    return lambda text: str(page.evaluate(RENDER, text))


@pytest.mark.thorough
@pytest.mark.parametrize(("text", "markup"), BECOMES.values(), ids=BECOMES)
def test_each_part_becomes_its_element(render: Callable[[str], str], text: str, markup: str) -> None:
    assert markup in render(text)


@pytest.mark.parametrize("text", NOTHING_OF_IT)
def test_nothing_but_the_listed_elements_and_addresses_comes_of_hostile_text(page: Page, text: str) -> None:
    found: list[Any] = page.evaluate(
        f"""async text => {{
            const place = document.createElement("template");
            place.innerHTML = await ({RENDER})(text);
            return [...place.content.querySelectorAll("*")].map(one =>
                [one.localName, ...[...one.attributes].map(({{ name, value }}) => `${{name}}=${{value}}`)]);
        }}""",
        text,
    )
    for name, *attributes in found:
        assert name in {"p", "a", "img", "code"}
        for attribute in attributes:
            key, _, value = attribute.partition("=")
            assert key in {"href", "src", "alt", "loading", "target", "rel"}
            if key == "href":
                assert value.startswith(
                    ("https://a.example/", "https://evil.example/x.png", "/files/", "/%5Cevil", "%5C")
                )
            if key == "src":
                assert value == "/files/fil_1/content"
    assert page.evaluate("window.hit === undefined")


@pytest.mark.parametrize(("html", "kept"), PAST_THE_GRAMMAR.values(), ids=PAST_THE_GRAMMAR)
def test_what_a_fault_in_the_grammar_lets_through_is_held_by_the_list(page: Page, html: str, kept: str) -> None:
    assert page.evaluate(CLEAN, html) == kept
    assert page.evaluate("window.hit === undefined")


def test_a_picture_stays_in_place_while_text_around_it_changes(page: Page) -> None:
    picture = "\n\n![a](/files/fil_1/content)\n\n"
    texts = [f"a{picture}b", f"ab{picture}b", f"ab{picture}bc\n\nd", f"{picture}bc\n\nd"]
    assert page.evaluate(REDRAW, texts) == {"same": True, "text": "\nbc\nd\n"}


def test_what_nests_without_end_is_shown_to_its_end(render: Callable[[str], str]) -> None:
    assert "x" in render("> " * 10_000 + "x")
    assert "x" in render("- " * 5_000 + "x")
    assert "x" in render("[" * 10_000 + "x" + "]" * 10_000)
    assert "x" in render("[" * 9_000 + "x" + "]" * 9_000)
    assert "x" in render("*a **b " * 1_000 + "x" + " b** a*" * 1_000)
    assert "x" in render("".join("  " * depth + "- a\n" for depth in range(300)) + "x")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "body",
    [
        "a\n\n" * 50_000,
        "- a\n" * 50_000,
        "|a|b|\n|-|-|\n" + "|c|d|\n" * 50_000,
        "|a" * 50_000 + "\n" + "|-" * 50_000,
        "[a]: /" + "x" * 1_900 + "\n\n" + ("[a] " * 4_000 + "\n\n") * 50,
    ],
    ids=["paragraphs", "list", "rows", "columns", "one-address-again-and-again"],
)
def test_what_is_more_than_a_page_can_lay_out_is_shown_as_it_is(page: Page, body: str) -> None:
    shown = page.evaluate(
        f"""async text => {{
            const place = document.createElement("template");
            place.innerHTML = await ({RENDER})(text);
            const last = place.content.lastElementChild;
            return {{
                said: last.previousElementSibling.textContent,
                tail: last.localName === "pre" && text.trimEnd().endsWith(last.textContent.trimEnd()),
                elements: place.content.querySelectorAll("*").length,
                chars: place.innerHTML.length,
            }};
        }}""",
        body,
    )
    assert "too long to be laid out" in shown["said"]
    assert shown["tail"]
    assert shown["elements"] < 50_000
    assert shown["chars"] < 20_000_000
