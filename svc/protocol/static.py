"""The web app's files, served from memory, and its shell.

A hash of the whole tree is a path segment, ``/static/<version>/…``, so modules, joined or not, import each other
relatively, and each release is immutable. The same files without the segment are revalidated by ``ETag``. Files are
served from a dictionary filled at boot, so no request ever reaches the file system: no traversal, no link, no dotfile.

Owns the table, the compressed copies (each made at its first request) and the shell's policy. It never reads a file
after boot. Only what is the same for everybody is compressed: in an answer with a secret beside a stranger's words, the
compressed length would tell how much the two have in common.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from svc.errors import NotFound
from svc.protocol.messages import HeaderList, Headers, Request, Response
from svc.protocol.security import confined_worker_csp, shell_csp, worker_csp
from svc.protocol.served_files import CONTENT_TYPES, served_files

MAX_FILES: Final = 2_000
MAX_TREE_BYTES: Final = 32 * 1024 * 1024
IMMUTABLE: Final = "public, max-age=31536000, immutable"
REVALIDATE: Final = "no-cache"
SHELL_NAME: Final = "index.html"
BASE_MARK: Final = "{{static}}"
"""Replaced by the address of the tree, with its version."""
STYLESHEETS_MARK: Final = "{{stylesheets}}"
"""Replaced by the links to the stylesheets that the shell does not link itself."""

WORKER_NAME: Final = "sw.js"
FILES_MARK: Final = "{{files}}"
"""In the service worker: replaced by the names of the files that a browser keeps, separated by spaces."""
OFF_MARK: Final = "{{off}}"
"""Replaced by the parts of the service that are switched off here; the app leaves them out."""
ONLINE_ONLY: Final = ("vendor/pdf/", "vendor/xterm/", "vendor/docs/")
"""The viewers for PDFs, terminals and the service's description. No browser keeps them for offline use, since their
content is not kept either, and each is as large as the app. A page links their stylesheets when it first shows such
content."""
CONFINED_WORKER: Final = ".worker.mjs"
"""The end of the names of scripts that a page starts as workers for content from strangers."""

_COMPRESSIBLE: Final = re.compile(r"text/|image/svg\+xml$|application/manifest\+json$|application/json$")
_VERSION_DIGITS: Final = 16
_SMALLEST_WORTH_GZIP_BYTES: Final = 512
_INLINE_SCRIPT: Final = re.compile(r"<script\b(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL | re.IGNORECASE)
_REFUSES_GZIP: Final = re.compile(r"q=0(\.0*)?$")


class BadTree(Exception):
    """The folder can't be served; the text says what is wrong with it, in one sentence."""


@dataclass(frozen=True)
class Asset:
    """One file, or one document that is the same for everybody: plain, and compressed if that is smaller."""

    data: bytes
    content_type: str

    @cached_property
    def etag(self) -> str:
        return hashlib.sha256(self.data).hexdigest()[:_VERSION_DIGITS]

    @cached_property
    def gzipped(self) -> bytes | None:
        """Made when the first client asks, so that the boot need not wait for the whole tree. Blocks, long for a large
        file: call :meth:`prepare` in a thread first."""
        if len(self.data) < _SMALLEST_WORTH_GZIP_BYTES or not _COMPRESSIBLE.match(self.content_type):
            return None
        squeezed = gzip.compress(self.data, mtime=0)
        return squeezed if len(squeezed) < len(self.data) else None

    @property
    def is_prepared(self) -> bool:
        return "gzipped" in vars(self)

    def prepare(self) -> None:
        """Compress the file, once. Blocks."""
        _ = self.gzipped, self.etag

    def respond(self, headers: Headers, *, extra: HeaderList) -> Response:
        """200, or 304 if the client already has it; compressed if the client accepts that."""
        fields = [("content-type", self.content_type), *extra]
        body, tag = self.data, self.etag
        if self.gzipped is not None:
            fields.append(("vary", "Accept-Encoding"))
            if accepts_gzip(headers):
                body, tag = self.gzipped, f"{self.etag}-gz"
                fields.append(("content-encoding", "gzip"))
        fields.append(("etag", f'"{tag}"'))
        if none_match(headers, f'"{tag}"'):
            return Response(status=304, headers=[field for field in fields if field[0] in _KEPT_BY_304])
        return Response(headers=fields, body=body)


_KEPT_BY_304: Final = frozenset({"etag", "vary", "cache-control", "content-security-policy"})


class StaticTree:
    """A loaded folder."""

    def __init__(
        self,
        assets: Mapping[str, Asset],
        shell: Asset,
        worker: Asset | None,
        *,
        version: str,
        csp_hashes: tuple[str, ...],
    ) -> None:
        self.version = version
        self.csp_hashes = csp_hashes
        self._assets = assets
        self._shell = shell
        self._worker = worker
        self._shell_headers = [
            ("cache-control", REVALIDATE),
            ("content-security-policy", shell_csp(csp_hashes)),
        ]
        self._worker_headers = [("cache-control", REVALIDATE), ("content-security-policy", worker_csp())]

    @classmethod
    def load(cls, path: Path, *, prefix: str = "/static", off: Iterable[str] = ()) -> StaticTree:
        """Read the folder once. Blocking: for the boot. Raises :class:`BadTree`."""
        files = dict(_read(path))
        template = files.pop(SHELL_NAME, None)
        if template is None:
            raise BadTree(f"{path} has no {SHELL_NAME}; the web app is not there")
        version = _version(files, template)
        script = files.pop(WORKER_NAME, None)
        try:
            page = shell_page(template.decode("utf-8"), files, base=f"{prefix}/{version}", off=off)
            worker = None if script is None else worker_script(script.decode(), files, base=f"{prefix}/{version}")
        except UnicodeDecodeError as error:
            raise BadTree(f"{SHELL_NAME} or {WORKER_NAME} is not UTF-8") from error
        hashes = tuple(_csp_hash(match[1]) for match in _INLINE_SCRIPT.finditer(page))
        assets = {name: Asset(data, CONTENT_TYPES[Path(name).suffix]) for name, data in files.items()}
        shell = Asset(page.encode(), CONTENT_TYPES[".html"])
        served_worker = None if worker is None else Asset(worker.encode(), CONTENT_TYPES[".js"])
        return cls(assets, shell, served_worker, version=version, csp_hashes=hashes)

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._assets))

    def unprepared(self, relative_path: str) -> Asset | None:
        """The file at this path, if :meth:`Asset.prepare` must be called in a thread before :meth:`respond`."""
        first, _, rest = relative_path.partition("/")
        asset = self._assets.get(rest if first == self.version else relative_path)
        return asset if asset is not None and not asset.is_prepared else None

    def respond(self, request: Request, relative_path: str) -> Response:
        """The file at ``relative_path`` below the prefix, with or without the version in front. Raises 404."""
        first, _, rest = relative_path.partition("/")
        versioned = first == self.version
        asset = self._assets.get(rest if versioned else relative_path)
        if asset is None:
            raise NotFound
        caching = ("cache-control", IMMUTABLE if versioned else REVALIDATE)
        return asset.respond(request.headers, extra=[caching, *own_policy(relative_path)])

    def shell(self, request: Request) -> Response:
        """The page with which every address of the app begins."""
        return self._shell.respond(request.headers, extra=self._shell_headers)

    def missing(self, request: Request) -> Response:
        """The same page for an unknown address, as 404: the app shows the error. It is not cached, because the address
        may exist later."""
        headers = [("content-type", CONTENT_TYPES[".html"]), *self._shell_headers[1:], ("cache-control", "no-store")]
        return Response(status=404, headers=headers, body=self._shell.data)

    def worker(self, request: Request) -> Response:
        """The service worker of this version. Raises 404 if the tree has none."""
        if self._worker is None:
            raise NotFound
        return self._worker.respond(request.headers, extra=self._worker_headers)


def shell_page(template: str, names: Iterable[str], *, base: str, off: Iterable[str] = ()) -> str:
    """The shell with its marks replaced; ``names`` are the files of the tree, ``off`` the parts that are switched off.

    A feature's stylesheet is linked if its file exists. The order by name has no meaning: cascade layers decide, and no
    two features style the same class.
    """
    styles = sorted(name for name in names if name.endswith(".css") and not name.startswith(ONLINE_ONLY))
    sheets = [f"{BASE_MARK}/{name}" for name in styles]
    links = [f'<link rel="stylesheet" href="{sheet}">' for sheet in sheets if f'"{sheet}"' not in template]
    page = template.replace(STYLESHEETS_MARK, "\n    ".join(links)).replace(OFF_MARK, " ".join(off))
    return page.replace(BASE_MARK, base)


def own_policy(name: str) -> HeaderList:
    """The policy of a file that is a worker of its own; all other files have the default policy of answers."""
    return [("content-security-policy", confined_worker_csp())] if name.endswith(CONFINED_WORKER) else []


def worker_script(template: str, names: Iterable[str], *, base: str) -> str:
    """The service worker with its marks replaced: the names of the app's files, and where these and its parts are.

    It is served from the root, so that its scope is the whole app; its parts come from the folder of their version.
    """
    kept = sorted(name for name in names if not name.startswith(ONLINE_ONLY))
    filled = template.replace(FILES_MARK, " ".join(kept)).replace(BASE_MARK, base)
    return filled.replace('from "./', f'from "{base}/')


def accepts_gzip(headers: Headers) -> bool:
    """Whether ``Accept-Encoding`` names gzip without refusing it."""
    for field in headers.all("accept-encoding"):
        for item in field.lower().split(","):
            coding, _, weight = item.partition(";")
            if coding.strip() == "gzip":
                return not _REFUSES_GZIP.match(weight.strip())
    return False


def none_match(headers: Headers, etag: str) -> bool:
    """Whether ``If-None-Match`` holds ``etag`` (weak comparison, RFC 9110 13.1.2)."""
    tags = [tag.strip().removeprefix("W/") for field in headers.all("if-none-match") for tag in field.split(",")]
    return etag in tags or "*" in tags


def _read(root: Path) -> Iterator[tuple[str, bytes]]:
    if not root.is_dir():
        raise BadTree(f"{root} is not a folder; the web app is not there")
    count = size = 0
    for path in served_files(root):
        data = path.read_bytes()
        count, size = count + 1, size + len(data)
        if count > MAX_FILES or size > MAX_TREE_BYTES:
            raise BadTree(f"{root} has more than {MAX_FILES} files or {MAX_TREE_BYTES} bytes to serve")
        yield path.relative_to(root).as_posix(), data


def _version(files: Mapping[str, bytes], template: bytes) -> str:
    digest = hashlib.sha256()
    for name, data in sorted({**files, SHELL_NAME: template}.items()):
        digest.update(f"{len(name)}:{name}:{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()[:_VERSION_DIGITS]


def _csp_hash(script: str) -> str:
    """The CSP source of one inline script; a browser hashes its text with line ends as LF."""
    text = script.replace("\r\n", "\n").replace("\r", "\n")
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()
