"""The web app's files: versioned, compressed, and no others."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from pathlib import Path

import pytest

from svc.errors import NotFound
from svc.protocol.messages import Headers, Request, Response
from svc.protocol.security import PRINTED_HASH, PRINTS_HASH
from svc.protocol.static import IMMUTABLE, BadTree, StaticTree

IMPORT_MAP = '{"imports": {"preact": "{{static}}/vendor/preact.mjs"}}'
SHELL = (
    f'<!doctype html><script type="importmap">{IMPORT_MAP}</script>'
    '<script type="module" src="{{static}}/app.js"></script>'
)
WORKER = 'import { keep } from "./offline/kept.js";\nkeep("{{static}}", "{{files}}");\n'
LONG = b"export const text = 'a long line that repeats';\n" * 100


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "static"
    for name, data in {
        "sw.js": WORKER.encode(),
        "index.html": SHELL.encode(),
        "app.js": LONG,
        "mail/row.js": b"export {}",
        "icon.png": b"\x89PNG" + b"\0" * 1000,
        "package.json": b"{}",
        "types.d.ts": b"",
        "vendor.mjs": b"no",
        "vendor/preact.mjs": b"export {}",
        "ui/vendor.mjs": b"export {}",
        ".secret.js": b"no",
        ".git/config.txt": b"no",
        "node_modules/x/index.js": b"no",
        "notes.md": b"no",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (tmp_path / "outside.js").write_bytes(b"secret")
    (root / "link.js").symlink_to(tmp_path / "outside.js")
    (root / "linked").symlink_to(tmp_path, target_is_directory=True)
    return root


def get(**headers: str) -> Request:
    fields = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return Request(method="GET", target="/", headers=Headers(fields))


def body(response: Response) -> bytes:
    assert isinstance(response.body, bytes)
    return response.body


def test_only_what_a_browser_app_consists_of_is_served(folder: Path) -> None:
    assert StaticTree.load(folder).names() == (
        "app.js",
        "icon.png",
        "mail/row.js",
        "ui/vendor.mjs",
        "vendor/preact.mjs",
    )


@pytest.mark.parametrize(
    "path",
    [
        "",
        "nope.js",
        "index.html",
        "package.json",
        "types.d.ts",
        "vendor.mjs",
        ".secret.js",
        "link.js",
        "linked/outside.js",
        "../outside.js",
        "mail/../app.js",
        "/app.js",
        "app.js/",
        "0123456789abcdef/app.js",
        "node_modules/x/index.js",
    ],
)
def test_nothing_else_is_found(folder: Path, path: str) -> None:
    tree = StaticTree.load(folder)
    with pytest.raises(NotFound):
        tree.respond(get(), path)
    with pytest.raises(NotFound):
        tree.respond(get(), f"{tree.version}/{path}")


def test_a_versioned_file_is_kept_for_ever_and_a_plain_one_is_revalidated(folder: Path) -> None:
    tree = StaticTree.load(folder)
    versioned = tree.respond(get(), f"{tree.version}/app.js")
    plain = tree.respond(get(), "app.js")
    assert versioned.header("cache-control") == IMMUTABLE
    assert plain.header("cache-control") == "no-cache"
    assert body(versioned) == body(plain) == LONG
    assert plain.header("content-type") == "text/javascript; charset=utf-8"


def test_the_version_follows_every_byte_and_name(folder: Path) -> None:
    first = StaticTree.load(folder).version
    (folder / "mail/row.js").write_bytes(b"export {} ")
    second = StaticTree.load(folder).version
    (folder / "mail/row.js").rename(folder / "mail/rows.js")
    third = StaticTree.load(folder).version
    assert len({first, second, third}) == 3


@pytest.mark.parametrize("accept", ["gzip", "br, gzip;q=0.5", "GZIP"])
def test_a_client_that_takes_gzip_gets_the_smaller_copy(folder: Path, accept: str) -> None:
    response = StaticTree.load(folder).respond(get(accept_encoding=accept), "app.js")
    assert response.header("content-encoding") == "gzip"
    assert response.header("vary") == "Accept-Encoding"
    assert len(body(response)) < len(LONG)
    assert gzip.decompress(body(response)) == LONG


@pytest.mark.parametrize("accept", ["", "br", "gzip;q=0", "gzip; q=0.000", "*"])
def test_a_client_that_does_not_name_gzip_gets_the_file(folder: Path, accept: str) -> None:
    response = StaticTree.load(folder).respond(get(accept_encoding=accept), "app.js")
    assert response.header("content-encoding") is None
    assert response.header("vary") == "Accept-Encoding"


def test_what_does_not_shrink_is_sent_as_it_is(folder: Path) -> None:
    tree = StaticTree.load(folder)
    assert tree.respond(get(accept_encoding="gzip"), "icon.png").header("content-encoding") is None
    assert tree.respond(get(accept_encoding="gzip"), "mail/row.js").header("content-encoding") is None


def test_a_known_tag_is_answered_304_for_its_own_encoding_only(folder: Path) -> None:
    tree = StaticTree.load(folder)
    tag = tree.respond(get(), "app.js").header("etag") or ""
    zipped = tree.respond(get(accept_encoding="gzip"), "app.js").header("etag") or ""
    assert tag != zipped
    for value in (tag, f"W/{tag}", f'"x", {tag}', "*"):
        known = tree.respond(get(if_none_match=value), "app.js")
        assert (known.status, body(known), known.header("etag")) == (304, b"", tag)
    assert tree.respond(get(if_none_match=tag, accept_encoding="gzip"), "app.js").status == 200
    assert tree.respond(get(if_none_match='"other"'), "app.js").status == 200


def test_the_shell_names_the_version_and_its_policy_the_import_map(folder: Path) -> None:
    tree = StaticTree.load(folder)
    response = tree.shell(get())
    page = body(response).decode()
    assert f'src="/static/{tree.version}/app.js"' in page
    assert "{{static}}" not in page
    written = page.partition('<script type="importmap">')[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(written.encode()).digest()).decode()
    assert tree.csp_hashes == (f"sha256-{digest}",)
    policy = response.header("content-security-policy") or ""
    assert f"script-src 'self' 'sha256-{digest}' '{PRINTS_HASH}';" in policy
    assert (
        f"style-src 'self' '{PRINTED_HASH}'; style-src-attr 'unsafe-inline'; img-src 'self' data:; media-src 'self';"
        in policy
    )
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert response.header("cache-control") == "no-cache"


def test_the_shell_links_each_stylesheet_that_is_there_once(folder: Path) -> None:
    (folder / "index.html").write_text('<link href="{{static}}/ui/base.css">\n{{stylesheets}}')
    for name in ("ui/base.css", "pages/pages.css", "mail/list.css"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("p {}")
    tree = StaticTree.load(folder)
    linked = re.findall(r'href="([^"]+)"', body(tree.shell(get())).decode())
    assert linked == [f"/static/{tree.version}/{name}" for name in ("ui/base.css", "mail/list.css", "pages/pages.css")]


def test_a_shell_that_is_known_keeps_its_policy(folder: Path) -> None:
    tree = StaticTree.load(folder)
    tag = tree.shell(get()).header("etag") or ""
    known = tree.shell(get(if_none_match=tag))
    assert known.status == 304
    assert "script-src" in (known.header("content-security-policy") or "")


def test_the_service_worker_names_its_build_and_lies_at_the_top_alone(folder: Path) -> None:
    tree = StaticTree.load(folder)
    response = tree.worker(get())
    base = f"/static/{tree.version}"
    assert body(response).decode() == (
        f'import {{ keep }} from "{base}/offline/kept.js";\n'
        f'keep("{base}", "app.js icon.png mail/row.js ui/vendor.mjs vendor/preact.mjs");\n'
    )
    assert response.header("cache-control") == "no-cache"
    assert response.header("content-security-policy") == (
        "default-src 'none'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'"
    )
    with pytest.raises(NotFound):
        tree.respond(get(), "sw.js")


def test_what_shows_pdfs_is_kept_by_no_browser_and_its_workers_may_reach_nothing(folder: Path) -> None:
    (folder / "vendor/pdf/cmaps").mkdir(parents=True)
    for name in ("reading.worker.mjs", "pdf.mjs", "cmaps/H.bcmap"):
        (folder / "vendor/pdf" / name).write_bytes(b"export {}")
    tree = StaticTree.load(folder)
    assert b"vendor/pdf" not in body(tree.worker(get()))
    for name in ("vendor/pdf/reading.worker.mjs", f"{tree.version}/vendor/pdf/reading.worker.mjs"):
        answer = tree.respond(get(), name)
        assert answer.header("content-security-policy") == (
            "default-src 'none'; script-src 'self'; frame-ancestors 'none'"
        )
    assert tree.respond(get(), "vendor/pdf/pdf.mjs").header("content-security-policy") is None
    assert tree.respond(get(), "vendor/pdf/cmaps/H.bcmap").header("content-type") == "application/octet-stream"


def test_a_folder_without_a_service_worker_has_none(folder: Path) -> None:
    (folder / "sw.js").unlink()
    with pytest.raises(NotFound):
        StaticTree.load(folder).worker(get())


def test_a_folder_without_a_shell_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadTree, match=r"no index\.html"):
        StaticTree.load(tmp_path)
    with pytest.raises(BadTree, match="not a folder"):
        StaticTree.load(tmp_path / "missing")


def test_a_file_is_compressed_once_when_it_is_first_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bytes] = []
    compress = gzip.compress

    def noted(data: bytes, *, mtime: int) -> bytes:
        made.append(data)
        return compress(data, mtime=mtime)

    monkeypatch.setattr(gzip, "compress", noted)
    tree = StaticTree.load(folder)
    assert made == []
    answers = [tree.respond(get(accept_encoding="gzip"), "app.js") for _ in range(2)]
    assert [gzip.decompress(body(answer)) for answer in answers] == [LONG, LONG]
    assert made == [LONG]
