"""The web addresses of a file of the repository, on GitHub, GitLab and Gitea (and Forgejo). Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import quote, urlsplit

ForgeKind = Literal["github", "gitlab", "gitea"]
_SCP_LIKE: Final = re.compile(r"(?:[^@/]+@)?([^:/]+):(.+)")
_SIGNS: Final[tuple[tuple[str, ForgeKind], ...]] = (
    ("github", "github"),
    ("gitlab", "gitlab"),
    ("gitea", "gitea"),
    ("forgejo", "gitea"),
    ("codeberg", "gitea"),
)
_FILE: Final = {"github": "/blob/{branch}/", "gitlab": "/-/blob/{branch}/", "gitea": "/src/branch/{branch}/"}
_COMPARE: Final = {
    "github": "/compare/{base}...{branch}?expand=1",
    "gitlab": "/-/merge_requests/new?merge_request[source_branch]={branch}&merge_request[target_branch]={base}",
    "gitea": "/compare/{base}...{branch}",
}


@dataclass(frozen=True, kw_only=True)
class Forge:
    """``base`` is the repository's own web page; ``None`` if it is not known."""

    base: str | None
    kind: ForgeKind | None
    branch: str
    folder: str

    def file_url(self, file: str) -> str | None:
        """``file`` is relative to the followed folder."""
        if self.base is None or self.kind is None:
            return None
        path = f"{self.folder}/{file}" if self.folder else file
        return self.base + _FILE[self.kind].format(branch=quote(self.branch)) + quote(path)

    def request_url(self, branch: str) -> str | None:
        """The web page to open a pull request of ``branch`` into the followed branch."""
        if self.base is None or self.kind is None:
            return None
        return self.base + _COMPARE[self.kind].format(base=quote(self.branch, safe=""), branch=quote(branch, safe=""))


def forge_of(repository: str, *, kind: str | None, branch: str, folder: str) -> Forge:
    """From the clone address; without a ``kind``, it is guessed from the host's name."""
    found = _host_and_path(repository)
    if found is None:
        return Forge(base=None, kind=None, branch=branch, folder=folder)
    host, path, port = found
    guessed = next((forge for sign, forge in _SIGNS if sign in host), None)
    known: dict[str | None, ForgeKind] = {"github": "github", "gitlab": "gitlab", "gitea": "gitea"}
    return Forge(base=f"https://{host}{port}/{path}", kind=known.get(kind, guessed), branch=branch, folder=folder)


def _host_and_path(repository: str) -> tuple[str, str, str] | None:
    scp = _SCP_LIKE.fullmatch(repository) if "://" not in repository and not repository.startswith("/") else None
    if scp is not None:
        return scp[1].lower(), _repository_path(scp[2]), ""
    parts = urlsplit(repository)
    if parts.scheme not in {"https", "ssh"} or not parts.hostname:
        return None
    port = f":{parts.port}" if parts.scheme == "https" and parts.port is not None else ""
    return parts.hostname, _repository_path(parts.path), port


def _repository_path(path: str) -> str:
    return quote(path.strip("/").removesuffix(".git"))
