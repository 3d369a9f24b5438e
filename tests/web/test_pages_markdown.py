"""The Markdown of pages: what becomes what, that nothing else becomes markup, and in linear time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.journeys.harness import ServiceProcess
from tests.web.conftest import PATIENCE_MS

pytestmark = pytest.mark.browser

RENDER = """async text => {
    const base = document.querySelector("script[src$='/app.js']").src.replace("app.js", "");
    const [{ render, h }, { Markdown }] = await Promise.all([import("preact"), import(base + "pages/markdown.js")]);
    const place = document.createElement("div");
    render(h(Markdown, { text }), place);
    return place.firstElementChild.innerHTML;
}"""
GROWTH = """async unit => {
    const base = document.querySelector("script[src$='/app.js']").src.replace("app.js", "");
    const { parseBlocks } = await import(base + "pages/blocks.js");
    const { parseInline } = await import(base + "pages/inline.js");
    const read = text => {
        const walk = blocks => blocks.forEach(block => {
            if (block.text !== undefined) parseInline(block.text);
            walk(block.blocks ?? []);
            (block.items ?? []).forEach(item => walk(item.blocks));
        });
        walk(parseBlocks(text));
        for (let at = 0; at < text.length; at += 20000) parseInline(text.slice(at, at + 20000));
    };
    const began = performance.now();
    read(unit.repeat(Math.floor(1048576 / unit.length)));
    return performance.now() - began;
}"""
LARGEST_PAGE_TAKES_MS = 5_000
"""Generous, for a busy machine: what is quadratic in a page of 1 MiB takes minutes."""

BECOMES: dict[str, tuple[str, str]] = {
    "heading": ("# a #", "<h2>a</h2>"),
    "emphasis": (
        "*a* __b__ ~~c~~ ***d***",
        "<p><em>a</em> <strong>b</strong> <del>c</del> <strong><em>d</em></strong></p>",
    ),
    "no-emphasis": ("2 * 3 * 4 a_b_c \\*d\\*", "<p>2 * 3 * 4 a_b_c *d*</p>"),
    "crossing": ("*a **b* c**", "<p><em>a **b</em> c**</p>"),
    "code": ("`` a`<b> ``", "<p><code>a`&lt;b&gt;</code></p>"),
    "fence": ("```js\n*a*\n\n<b>\n```", '<pre tabindex="0"><code>*a*\n\n&lt;b&gt;</code></pre>'),
    "open-fence": ("~~~\na", '<pre tabindex="0"><code>a</code></pre>'),
    "break": ("a  \nb\\\nc\nd", "<p>a  <br>b<br>c\nd</p>"),
    "rule": ("- - -", "<hr>"),
    "quote": ("> a\n>> b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"),
    "list": ("- a\n  - b\n- c", "<ul><li><div>a<ul><li><div>b</div></li></ul></div></li><li><div>c</div></li></ul>"),
    "loose": ("- a\n\n- b", "<ul><li><div><p>a</p></div></li><li><div><p>b</p></div></li></ul>"),
    "ordered": ("3. a\n4. b", '<ol start="3"><li><div>a</div></li><li><div>b</div></li></ol>'),
    "wiki": ("[[a b/c]] [[x|y]]", '<p><a href="/p/a%20b/c">a b/c</a> <a href="/p/x">y</a></p>'),
    "link": ("[*a*](/p/b_(c))", '<p><a href="/p/b_(c)"><em>a</em></a></p>'),
    "picture": ("![a](/files/fil_1/content)", '<p><img src="/files/fil_1/content" alt="a" loading="lazy"></p>'),
    "ragged-table": ("|a|b|\n|-|-|\n|c|", "<td>c</td>"),
    "mail": ("<mailto:a@b.example>", ">a@b.example</a>"),
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
UNITS: tuple[str, ...] = (
    "*a ", "**a *b ", "a* *b ", "*_", "[", "[[a", "[a](", "![a](/files/", "`a", "`` ` ", "<https://a", "https://(((",
    "\\", "- ", "> ", "1. ", "|a", "||\n", "|a\n|-\n", "# #", " ", "\t", "```\n", "  - a\n", "a\n", "- a\n\n",
)  # fmt: skip


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with ServiceProcess(tmp_path_factory.mktemp("markdown")) as service:
        service.start(PROVIDERS="fake")
        context = browser.new_context()
        context.set_default_timeout(PATIENCE_MS)
        opened = context.new_page()
        opened.goto(f"{service.base}/p/")
        yield opened
        context.close()


@pytest.fixture
def render(page: Page) -> Callable[[str], str]:
    return lambda text: str(page.evaluate(RENDER, text))


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
                assert value.startswith(("https://a.example/", "https://evil.example/x.png", "/files/"))
            if key == "src":
                assert value == "/files/fil_1/content"
    assert page.evaluate("window.hit === undefined")


@pytest.mark.parametrize("unit", UNITS)
def test_a_page_full_of_it_is_read_in_linear_time(page: Page, unit: str) -> None:
    assert page.evaluate(GROWTH, unit) < LARGEST_PAGE_TAKES_MS


def test_a_page_that_nests_without_end_is_cut_off_and_shown(render: Callable[[str], str]) -> None:
    assert "x" in render("> " * 5_000 + "x")
    assert "x" in render("- " * 5_000 + "x")
    assert "x" in render("*a **b " * 1_000 + "x" + " b** a*" * 1_000)


def test_what_is_more_than_a_page_can_lay_out_is_shown_as_it_is(render: Callable[[str], str]) -> None:
    assert "too long to be laid out" in render("a\n\n" * 20_000)
