"""The rules for the files of the web app, checked by reading them, without a browser."""

from __future__ import annotations

import os
import re
from itertools import accumulate
from pathlib import Path

from svc.protocol.served_files import served_files
from svc.protocol.static import shell_page
from tests.support.each import each, each_file

STATIC = Path(__file__).parents[2] / "static"
NOT_OURS = {"node_modules", "vendor"}
WIDTH = 120
MAX_FILE_LINES = 500


def ours(*suffixes: str) -> list[Path]:
    """The files of these kinds that are written here."""
    return sorted(
        path
        for suffix in suffixes
        for path in STATIC.rglob(f"*{suffix}")
        if not NOT_OURS & set(path.relative_to(STATIC).parts)
    )


@each_file(ours(".js", ".mjs", ".css", ".ts"), below=STATIC)
def test_no_line_is_wider_than_a_screen(path: Path) -> None:
    wide = [n for n, line in enumerate(path.read_text().splitlines(), 1) if len(line) > WIDTH]
    assert wide == []


OWN_MEASURES = {
    "a size of type": re.compile(r"font(?:-size)?: (?!0;|inherit|var\(--|(?:400|600) var\(--)[^;]+"),
    "a weight": re.compile(r"font-weight: (?!400;|600;|inherit)[^;]+"),
    "a colour": re.compile(r"#[0-9a-f]{3,8}\b|\b(?:rgb|oklch)a?\([^)]+\)", re.IGNORECASE),
    "a corner": re.compile(r"border-radius: [^;]*(?<![\w-])\d*\.?\d+rem"),
    "a space of the scale": re.compile(
        r"(?m)(?:^|[{;])\s*(?:(?:row-|column-)?gap|(?:padding|margin)[\w-]*): "
        r"[^;]*(?<![\w.-])(?:(?:0\.25|0\.5|0\.75|1|1\.5|2|3)rem|(?!1px)\d+px)[^;]*;"
    ),
    "a movement": re.compile(r"transition: (?!none|[^;]*var\(--motion\))[^;]+"),
}
BLACK_ON_WHITE = "ui/forms.css"
"""Has the squares of a code that a camera reads."""


@each_file(ours(".css"), below=STATIC)
def test_a_look_is_made_of_tokens(path: Path) -> None:
    """Six sizes of type, two weights, one palette, seven spaces, two corners, one speed: all of ui/tokens.css."""
    name = path.relative_to(STATIC).as_posix()
    if name != "ui/tokens.css":
        text = (
            path.read_text().replace("#fff;", "").replace("#000;", "") if name == BLACK_ON_WHITE else path.read_text()
        )
        found = {what: form.findall(text) for what, form in OWN_MEASURES.items()}
        assert found == {what: [] for what in OWN_MEASURES}


HAS_BEFORE_A_BARE_TAG = re.compile(r":has\([^{}]*\)[^{},]*[ >+~]\s*[a-z]\w*(?:::?[\w-]+)*\s*(?=[,{])")


@each_file(ours(".css"), below=STATIC)
def test_no_rule_asks_what_is_inside_for_the_sake_of_a_bare_tag(path: Path) -> None:
    """``.field:has(textarea) > span``, in the form of one page, had Chromium lay out each row of the list at each key,
    since the rows hold spans: `j` took twice as long. A class in place of the tag does not.
    """
    assert HAS_BEFORE_A_BARE_TAG.findall(without_comments(path.read_text())) == []


QUERY_OF_THE_LIST = re.compile(r"@container list [^{]*\{((?:[^{}]*\{[^{}]*\})*)\s*\}")
ROWS = STATIC / "mail" / "list_rows.css"
COMPACT_ONLY = ':root[data-density="compact"]'
OF_EACH_ROW = frozenset({"row", "row-text"})
OF_SOME_ROWS = frozenset({"row-labels", "row-until", "chip", "chip-more"})


def test_two_parts_of_a_row_alone_know_how_wide_the_list_is() -> None:
    """The browser looks up the style of each part that does whenever a thread opens or closes: with nine of them that
    took longer than the layout of the whole list.
    """
    asks = {
        selector.strip().split(" ")[-1]
        for path in ours(".css")
        for query in QUERY_OF_THE_LIST.findall(without_comments(path.read_text()))
        for rule in re.findall(r"([^{}]*)\{[^{}]*\}", query)
        for selector in rule.split(",")
        if ".row" in selector and COMPACT_ONLY not in selector
    }
    parts = {re.split(r"[.:]", one)[1] for one in asks}
    assert OF_EACH_ROW <= parts <= OF_EACH_ROW | OF_SOME_ROWS
    units = re.findall(r"([^{}]*)\{[^{}]*\d(?:cqi|cqw|cqmin|cqmax)\b[^{}]*\}", without_comments(ROWS.read_text()))
    assert [one.strip() for one in units] == [".row-labels:not(:empty)"]


WORDS_BEFORE_AN_INLINE_TAG = re.compile(r"[\w,.;:)]\n\s*<(?:a|b|i|code|em|kbd|strong)[ >]")
VALUE_BEFORE_A_WORD = re.compile(r"\$\{(?!\" \")[^{}\n]*\}\n\s*[a-z]+[ .,<$]")


@each_file(ours(".js"), below=STATIC)
def test_no_word_runs_into_what_is_on_the_next_line(path: Path) -> None:
    """htm drops white space that holds a line end: ``${" "}`` keeps the space."""
    text = path.read_text()
    assert [
        found[0] for each in (WORDS_BEFORE_AN_INLINE_TAG, VALUE_BEFORE_A_WORD) for found in each.finditer(text)
    ] == []


FEATURES = sorted(path.parent.name for path in STATIC.glob("*/feature.js"))


def imports_of(path: Path) -> set[str]:
    """What a module names in imports and in types, as paths below static/."""
    named = re.findall(r"(?:from|import) ?\(?\"(\.[^\"]+)\"", path.read_text())
    return {os.path.relpath(path.parent / name, STATIC) for name in named}


BARE_WORDS_IN_A_NOTICE = re.compile(r'class="notice[\w ]*"[^>]*>(?:\s*<\$\{Icon\}[^>]*/>)?\s*(?![<\s])[^<\n]+')


@each_file(ours(".js"), below=STATIC)
def test_a_notice_has_its_words_in_an_element(path: Path) -> None:
    """It lays out what is in it side by side: a link after bare words was one letter wide on a phone."""
    assert BARE_WORDS_IN_A_NOTICE.findall(path.read_text()) == []


def test_every_feature_of_the_web_app_stands_in_the_one_list() -> None:
    listed = {name.split("/")[0] for name in imports_of(STATIC / "features.js") if name.endswith("/feature.js")}
    assert listed == set(FEATURES)


def test_only_the_list_knows_the_features_rows() -> None:
    guests = [
        path.relative_to(STATIC).as_posix()
        for path in ours(".js")
        if any(name.endswith("/feature.js") for name in imports_of(path)) and path != STATIC / "features.js"
    ]
    assert guests == []


@each_file([*STATIC.glob("*.js"), *STATIC.glob("ui/*.js")], below=STATIC)
def test_what_all_features_share_knows_none_of_them(path: Path) -> None:
    if path not in {STATIC / "features.js", STATIC / "sw.js"}:
        assert [name for name in imports_of(path) if name.split("/")[0] in FEATURES] == []


@each(FEATURES)
def test_a_row_is_called_as_its_folder(name: str) -> None:
    assert f'\n  name: "{name}",\n' in (STATIC / name / "feature.js").read_text()


def without_comments(sheet: str) -> str:
    return re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)


def selectors_of(path: Path) -> list[str]:
    """Every selector of the rules in a stylesheet; frames of an animation have none."""
    sheet = re.sub(r"@keyframes[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", without_comments(path.read_text()))
    heads = re.findall(r"([^{};]+)\{", sheet)
    lists = [head.strip() for head in heads if not head.strip().startswith("@")]
    return [one.strip() for some in lists for one in re.split(r",(?![^(\[]*[)\]])", some)]


def root_class(selector: str) -> str | None:
    """The class under which a selector stands: its first one."""
    found = re.search(r"\.([a-z][\w-]*)", re.sub(r"\[[^\]]*\]", "", selector))
    return found[1] if found else None


def roots() -> dict[str, set[str | None]]:
    """Feature, or "ui" for what all share -> the classes under which its rules stand."""
    found: dict[str, set[str | None]] = {}
    for path in ours(".css"):
        room = path.relative_to(STATIC).parts[0]
        found.setdefault(room, set()).update(map(root_class, selectors_of(path)))
    return found


def test_no_class_belongs_to_two_features() -> None:
    rooms = sorted(roots().items())
    shared = {(one, other): mine & theirs for one, mine in rooms for other, theirs in rooms if one < other}
    assert {pair: names for pair, names in shared.items() if names} == {}


def test_no_two_settings_share_an_icon() -> None:
    rows = [
        row for path in ours("feature.js") for row in re.findall(r'group: "[^"]+",\s*icon: "([^"]+)"', path.read_text())
    ]
    assert len(rows) > 25
    assert sorted(rows) == sorted(set(rows))


def test_only_what_all_share_styles_plain_elements() -> None:
    assert [room for room, names in roots().items() if None in names] == ["ui"]


def test_the_page_links_every_stylesheet_once() -> None:
    names = [path.relative_to(STATIC).as_posix() for path in served_files(STATIC)]
    page = shell_page((STATIC / "index.html").read_text(), names, base="")
    linked = re.findall(r'rel="stylesheet" href="/([^"]+)"', page)
    assert sorted(linked) == [path.relative_to(STATIC).as_posix() for path in ours(".css")]
    declaring = [name for name in linked if "@layer base, ui, features;" in (STATIC / name).read_text()]
    assert declaring == linked[:1], "the order of the layers is declared once, before anything stands in one"


def test_the_page_names_no_stylesheet_of_a_feature() -> None:
    named = re.findall(r"([\w/]+)\.css", (STATIC / "index.html").read_text())
    assert [name for name in named if name.strip("/").split("/")[0] in FEATURES] == []


@each_file(ours(".css"), below=STATIC)
def test_all_of_a_stylesheet_stands_in_its_layer(path: Path) -> None:
    sheet = without_comments(path.read_text()).replace("@layer base, ui, features;", "").strip()
    opening = re.match(r"@layer (base|ui|features) \{", sheet)
    assert opening is not None
    assert (opening[1] == "features") == (path.parent.relative_to(STATIC).parts[0] in FEATURES)
    depths = list(accumulate((char == "{") - (char == "}") for char in sheet))
    assert depths.index(0, opening.end() - 1) == len(sheet) - 1, "nothing stands after the layer"


@each_file(ours(".js", ".mjs", ".css", ".ts"), below=STATIC)
def test_a_file_can_be_read_at_one_sitting(path: Path) -> None:
    assert path.read_text().count("\n") <= MAX_FILE_LINES or ".generated." in path.name
