"""Uploads that mean harm: everything a browser may be made to run, under its own name and under false ones.

Each says so on the console when it runs, and by which way it was opened (`via` in the address it came from); then it
tries to read who is signed in, and to write a page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

TOLD: Final = "HOSTILE"
"""What each line begins with that an upload says on the console."""

DOCUMENT: Final = frozenset({"top", "popup", "iframe", "object", "embed"})
CODE: Final = frozenset({"script", "module", "worker"})
CLASSIC: Final = frozenset({"script", "worker"})


@dataclass(frozen=True, kw_only=True)
class Upload:
    """``runs``: the ways to open it by which it runs where nothing is done against it."""

    name: str
    mime: str
    content: bytes
    runs: frozenset[str] = frozenset()


def uploads() -> list[Upload]:
    """All but what needs another one's address: see :func:`linked`."""
    return [*_documents(), *_in_disguise(), *_code(), *_containers()]


def linked(sheet: str) -> Upload:
    """XML that is turned into a page by a style sheet of its own, uploaded before."""
    text = f'<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="{sheet}"?><a/>'
    return Upload(name="linked.xml", mime="text/xml", content=text.encode(), runs=DOCUMENT)


def sheet() -> Upload:
    return Upload(name="sheet.xsl", mime="text/xsl", content=_SHEET.format(id="", script=script("linked.xml")).encode())


def script(name: str) -> str:
    """What runs. Free of ``&``, ``<`` and ``>``, so that it is the same in every syntax, and of line comments."""
    return _SCRIPT.replace("NAME", name).replace("\n", " ")


_SCRIPT: Final = """
(function () {
  var way = new Error().stack.match(/via=([a-z]+)/);
  var say = function (what) {
    console.log("HOSTILE " + JSON.stringify({name: "NAME", way: way ? way[1] : "unknown", what: what}));
  };
  say("ran in " + self.origin);
  try { say("cookie " + document.cookie); } catch (error) { say("no cookie"); }
  var read = function (reply) { return reply.text(); };
  var none = function () {};
  fetch("/auth/me?hostile", {credentials: "include"}).then(read).then(function (text) { say("read " + text); }, none);
  fetch("/trpc/pages.save", {method: "POST", credentials: "include", headers: {"content-type": "application/json"},
    body: JSON.stringify({path: "hostile", body: "NAME"})}).then(read, none);
})();
"""

_SHEET: Final = """<xsl:stylesheet {id} version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:output method="html"/><xsl:template match="/"><html><body><script>{script}</script></body></html></xsl:template>
</xsl:stylesheet>"""


def _html(name: str) -> bytes:
    """Also what needs no script: a frame, a form and a refresh that would tell on the wire."""
    return f"""<!doctype html><title>{name}</title><meta http-equiv=refresh content="0;url=/?hostile-refresh">
    <link rel=stylesheet href="/static/hostile.css"><img src="/hostile.png" onerror='{script(name)}'>
    <iframe src="/?hostile-frame"></iframe><a href="javascript:0" ping="/hostile-ping">x</a>
    <script>{script(name)}</script>""".encode()


def _svg(name: str) -> bytes:
    return f"""<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">
    <script>{script(name)}</script><image xlink:href="/hostile.png" width="9" height="9"/>
    <foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="/?hostile-frame"/></foreignObject>
    </svg>""".encode()


def _xhtml(name: str) -> bytes:
    return f'<html xmlns="http://www.w3.org/1999/xhtml"><body><script>{script(name)}</script></body></html>'.encode()


def _documents() -> list[Upload]:
    inner = _SHEET.format(id='id="s"', script=script("styled.xml"))
    styled = f"""<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="#s"?>
    <!DOCTYPE d [<!ATTLIST xsl:stylesheet id ID #REQUIRED>]><d>{inner}</d>"""
    foreign = f'<a><x:script xmlns:x="http://www.w3.org/1999/xhtml">{script("plain.xml")}</x:script></a>'
    return [
        Upload(name="page.html", mime="text/html", content=_html("page.html"), runs=DOCUMENT),
        Upload(name="drawing.svg", mime="image/svg+xml", content=_svg("drawing.svg"), runs=DOCUMENT),
        Upload(name="page.xhtml", mime="application/xhtml+xml", content=_xhtml("page.xhtml"), runs=DOCUMENT),
        Upload(name="plain.xml", mime="application/xml", content=foreign.encode(), runs=DOCUMENT),
        Upload(name="styled.xml", mime="text/xml", content=styled.encode(), runs=DOCUMENT),
    ]


def _in_disguise() -> list[Upload]:
    return [
        Upload(name="page.png", mime="text/html", content=_html("page.png"), runs=DOCUMENT),
        Upload(name="picture.png", mime="image/png", content=_html("picture.png")),
        Upload(name="drawing.png", mime="image/png", content=_svg("drawing.png")),
        Upload(name="notes.txt", mime="text/plain", content=_html("notes.txt")),
        Upload(name="typed.html", mime="text/html;charset=utf-7", content=_html("typed.html"), runs=DOCUMENT),
        Upload(name="untyped.html", mime="", content=_html("untyped.html"), runs=DOCUMENT),
        Upload(name="feed.rss", mime="application/rss+xml", content=_xhtml("feed.rss"), runs=DOCUMENT),
    ]


def _code() -> list[Upload]:
    def gif(name: str) -> bytes:
        """Its first bytes are those of a picture; run as a script, it is a program."""
        return b"GIF89a/*\x01\x00\x01\x00\x00*/=1;" + script(name).encode()

    def page(name: str) -> bytes:
        return b"GIF89a" + _html(name)

    return [
        Upload(name="code.js", mime="text/javascript", content=script("code.js").encode(), runs=CODE),
        Upload(name="code.mjs", mime="application/javascript", content=script("code.mjs").encode(), runs=CODE),
        Upload(name="code.txt", mime="text/plain", content=script("code.txt").encode(), runs=CLASSIC),
        Upload(name="code.json", mime="application/json", content=script("code.json").encode(), runs=CLASSIC),
        Upload(name="both.gif", mime="image/gif", content=gif("both.gif")),
        Upload(name="both.bin", mime="application/octet-stream", content=gif("both.bin"), runs=CLASSIC),
        Upload(name="page.gif", mime="image/gif", content=page("page.gif")),
    ]


def _containers() -> list[Upload]:
    return [
        Upload(name="form.pdf", mime="application/pdf", content=_pdf()),
        Upload(name="saved.mhtml", mime="application/x-mimearchive", content=_mhtml("saved.mhtml")),
        Upload(name="saved.eml", mime="message/rfc822", content=_mhtml("saved.eml")),
    ]


def _mhtml(name: str) -> bytes:
    lines = [
        "From: <Saved by Blink>",
        "MIME-Version: 1.0",
        'Content-Type: multipart/related; type="text/html"; boundary="b"',
        "",
        "--b",
        "Content-Type: text/html",
        "Content-Location: http://127.0.0.1/",
        "",
        _html(name).decode(),
        "--b--",
        "",
    ]
    return "\r\n".join(lines).encode()


def _pdf() -> bytes:
    """Opens with JavaScript that alerts, submits a form and follows a link."""
    run = "app.alert('HOSTILE'); this.submitForm('/?hostile-form'); app.launchURL('/?hostile-link');"
    objects = [
        "<</Type/Catalog/Pages 2 0 R/OpenAction 4 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/AA<</O 4 0 R>>>>",
        f"<</S/JavaScript/JS({run})>>",
    ]
    out, offsets = "%PDF-1.7\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj{body}endobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    end = (
        f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer<</Size {size}/Root 1 0 R>>\nstartxref\n{len(out)}\n%%EOF"
    )
    return (out + end).encode()
