"""Which lines get a font of fixed width. Many examples are of the mail corpus, shortened."""

from __future__ import annotations

import email
import time
from email.message import Message

import pytest

from svc.formats.fixed import MAX_LINES, fixed_lines
from svc.formats.html import sanitize, text_to_html
from tests.formats.mime import corpus
from tests.peers.needs import CORPUS, needs

PATCH = """\
--- pick.tcl	Fri Aug 23 16:28:14 2002
+++ exmh-2.5/pick.tcl	Sat Aug 24 18:14:44 2002
@@ -128,5 +128,5 @@
 }
 proc Pick_It {} {
     global pick exmh
-    set cmd [list exec pick +$exmh(folder) -list]
+    set cmd [list exec pick +$exmh(folder)]
     set inpane 0
\\ No newline at end of file"""

FIXED = {
    "a patch": PATCH,
    "a patch of git": (
        "diff --git a/x.py b/x.py\nindex 0f1e2d3..4c5b6a7 100644\n--- a/x.py\n+++ b/x.py\n@@ -1 +1,2 @@\n-a\n+b\n+c"
    ),
    "a patch that only renames": "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y",
    "a hunk alone": "@@ -3,2 +3,2 @@ def f():\n-a\n+b\n c",
    "what git says of a patch": (
        " docs/reading.md | 12 ++++++----\n icon.png | Bin 0 -> 120 bytes\n 2 files changed, 8 insertions(+)"
    ),
    "a table": (
        "false positive percentages\n    0.000  0.075  lost  +(was 0)\n    0.025  0.000  won   -100.00%\n"
        "    0.000  0.050  lost  +(was 0)"
    ),
    "numbers under each other": "Rent           900.00\nPower           61.50\nWater and heat  88.00",
    "dates under each other": (
        "Submission Deadline:        October 1, 2002\nNotification of Acceptance: December 1, 2002\n"
        "Camera-ready Paper Due:     January 15, 2003\nBest                        Sam"
    ),
    "columns by tabs": "name\tsize\tday\nicons\t12\tMon\nfonts\t3\tTue",
    "a box": (
        "+-------------------------+\n| Perl 5.8.0 Released     |\n|   posted by hfb         |\n"
        "+-------------------------+"
    ),
    "a box of line signs": "┌────┬────┐\n│ a  │ b  │\n└────┴────┘",
    "a table of Bugzilla": (
        "           What    |Removed                     |Added\n"
        "----------------------------------------------------------------------------\n"
        "             Status|NEW                         |RESOLVED\n"
        "         Resolution|                            |WONTFIX"
    ),
    "ASCII art": (
        "     .-.             .-.\n    /   \\           /   \\\n   /     \\   .-.   /     \\\n"
        "  /       `-'   `-'       \\"
    ),
    "a dump of bytes": (
        "4f 52 69 4e 4f 43 4f 20  52 47 2d 31  | ORiNOCO RG-1\n"
        "30 33 39 32 61 30 00 00  00 00 00 00  | 0392a0......\n"
        "02 8f 24 02 52 47 2d 31  31 30 30 20  | ..$.RG-1100 "
    ),
    "C": 'void lala::thread_me(int num)\n{\n printf("lalala");\n pthread_join(thread, 0);\n return;\n}',
    "Python": "import os\nfrom sys import argv\ndef main():\n    return os.path.join(argv[1])",
}

READ = {
    "prose": (
        "I tried it this morning, and it works.\nThe second part still fails, but only\nwhen nobody is logged in."
    ),
    "prose with two blanks after a stop": (
        "It is out.  We ship it.\nNobody waits.  All is well.\nWrite me.  Or call me."
    ),
    "justified prose": (
        "There is    a way to  have this\nwith less   work for everybody\nand with no   more than  a day."
    ),
    "a list": "- buy milk\n- call Noa\n- write the report",
    "a list with numbers": "1)   24-Hour Roadside Assistance.\n2)   Rental Benefit.\n3)   Trip Interruption.",
    "headers of a mail": (
        "-----Original Message-----\nFrom:\tJames\nSent:\tMonday, July 22, 2002\nTo:\tlist@a.example\nSubject:\tNews"
    ),
    "rulers around words": "=-=-=-=-=-=-=-=-=-=-=-=\nWin A FREE Ad In Community\n=-=-=-=-=-=-=-=-=-=-=-=",
    "an advertisement of a list": (
        "------------------------ Groups Sponsor ---------------------~-->\n4 DVDs Free +s&p Join Now\n"
        "http://us.click.example/pt6YBB/NXiEAA\n"
        "-----------------------------------------------------------~->"
    ),
    "a form to fill in": (
        "Your Name_________________________\nYour Address______________________\nYour City_________________________"
    ),
    "addresses": "https://a.example/b?c=d&e=f\nhttps://a.example/x/y/z\nhttps://b.example/~mia/",
    "a signature": "-- \nMia Tern\nTern & Tide GmbH\n+49 40 123456",
    "what somebody said of somebody's list": "--- Noa <noa@a.example> wrote:\nI think so, too.\nBest",
    "a poem": "So much depends\nupon\n\na red wheel\nbarrow",
    "two lines of columns": "a    b\nc    d",
    "smileys": "Fine :-)\nGreat ;-)\nSee you! :-D",
}


@pytest.mark.parametrize("text", FIXED.values(), ids=FIXED.keys())
def test_what_is_drawn_with_signs_and_blanks_is_fixed(text: str) -> None:
    lines = ["Hi Sam,", "", *text.split("\n"), "", "Best, Mia"]
    assert fixed_lines(lines) == [False, False, *[True] * (len(lines) - 4), False, False]


@pytest.mark.parametrize("text", READ.values(), ids=READ.keys())
def test_all_else_is_read_in_the_font_of_mail(text: str) -> None:
    assert not any(fixed_lines(text.split("\n")))


def test_a_patch_ends_where_its_hunk_says() -> None:
    lines = [*PATCH.split("\n"), "- this was a list", "+ of mine"]
    assert fixed_lines(lines) == [True] * (len(lines) - 2) + [False, False]


def test_a_patch_keeps_its_empty_lines() -> None:
    lines = ["@@ -1,3 +1,3 @@", " a", "", "-b", "+c"]
    assert fixed_lines(lines) == [True] * 5


def test_it_is_shown_so_between_lines_that_stay_as_they_were_and_in_quotations() -> None:
    html = text_to_html("Hi\n\n a  1\n b  2\n c  3\n\nBye\n> x\n>\n> +--+\n> |<>|\n> +--+\n>\n> y")
    style = html[html.index("<pre style=") :].split(">")[0] + ">"
    assert "monospace" in style
    table = f"{style} a  1\n b  2\n c  3</pre>"
    assert f"Hi<br><br>{table}<br>Bye<br><blockquote" in html
    assert f'">x<br><br>{style}+--+\n|&lt;&gt;|\n+--+</pre><br>y</blockquote>' in html


def test_the_frame_may_show_it_as_it_is() -> None:
    html = text_to_html(PATCH)
    assert sanitize(html).html == html


@pytest.mark.parametrize(
    "line", ["--- a", " a | 1 +", "diff -u", "@@ -1,99999 +1,99999 @@", "a  " * 130, "|" * 400, "if (" * 99]
)
def test_no_text_takes_long(line: str) -> None:
    start = time.process_time()
    fixed_lines([line] * MAX_LINES)
    assert time.process_time() - start < 2
    assert not any(fixed_lines([line] * (MAX_LINES + 1)))


@needs(CORPUS)
def test_real_mail_is_nearly_all_read_in_its_font() -> None:
    lines = fixed = 0
    for path in corpus.paths():
        message = email.message_from_bytes(path.read_bytes())
        found = fixed_lines(_plain(message).split("\n"))
        lines += len(found)
        fixed += sum(found)
    assert 0 < fixed < lines * 0.05


def _plain(message: Message) -> str:
    raw = message.get_payload(decode=True) if message.get_content_type() == "text/plain" else b""
    return raw.decode("latin-1") if isinstance(raw, bytes) else ""
