"""The settings of gitops. The token and the webhook's secret are credentials, seeded by environment variables of their
own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from svc.config import BadValue, Setting, file_path, one_of, text, whole_number, without_password

WRITE_BACK: Final = "write-back"
MODES: Final = ("readonly", WRITE_BACK)
MAX_POLL_S: Final = 7 * 86_400
_SCP_LIKE: Final = re.compile(r"(?:[A-Za-z0-9._-]{1,64}@)?[A-Za-z0-9][A-Za-z0-9.-]{0,252}:(?!/)[^\s\\:]{1,500}")
_REF: Final = re.compile(
    r"(?!.*(?:\.\.|@\{|//|\.lock(?:/|$)|/\.))[^\s\x00-\x20\x7f~^:?*\[\\./-][^\s\x00-\x20\x7f~^:?*\[\\]*"
)
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def _repository(value: str) -> str:
    """A remote in a form that git understands, of one of the four supported kinds, and without a credential in it."""
    shown = without_password(value)
    remedy = "give https://host/path, ssh://host/path, user@host:path, file:///path or an absolute path"
    if not value.isprintable() or value.startswith("-") or "::" in value.partition("/")[0]:
        raise BadValue(f"{shown!r} is no address of a repository; {remedy}")
    if value.startswith("/") or _SCP_LIKE.fullmatch(value):
        return value
    try:
        parts = urlsplit(value)
        known = (parts.scheme in {"https", "http", "ssh"} and bool(parts.hostname) and (parts.port or 1) > 0) or (
            parts.scheme == "file" and parts.path.startswith("/") and not parts.netloc
        )
    except ValueError:
        raise BadValue(f"{shown!r} is no address of a repository; {remedy}") from None
    if not known or parts.query or parts.fragment:
        raise BadValue(f"{shown!r} is no address of a repository; {remedy}")
    if parts.password is not None or (parts.username and parts.scheme != "ssh"):
        raise BadValue("it holds a credential; leave it out, and set SVC_GITOPS_TOKEN")
    if (parts.hostname or "").startswith("-"):
        raise BadValue(f"{shown!r} is no address of a repository; {remedy}")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise BadValue(f"{shown!r} would carry the token unencrypted; use https, or http on this machine only")
    return value.rstrip("/")


def _branch(value: str) -> str:
    name = value.removeprefix("refs/heads/")
    if not _REF.fullmatch(name) or name.endswith(("/", ".")) or len(name) > 200:
        raise BadValue(f"{value!r} is no name of a branch; give one such as main")
    return name


def _folder(value: str) -> str:
    parts = [part for part in value.strip("/").split("/") if part not in {"", "."}]
    if ".." in parts or not value.isprintable() or ".git" in parts:
        raise BadValue(f"{value!r} is no folder of the repository; give one such as team/workspace")
    return "/".join(parts)


REPO: Final[Setting[str | None]] = Setting(
    name="SVC_GITOPS_REPO",
    parse=_repository,
    default=None,
    type="address",
    help="Clone URL or local path of the repository that the workspace follows; setting it enables sync.",
)
BRANCH: Final[Setting[str]] = Setting(
    name="SVC_GITOPS_BRANCH", parse=_branch, default="main", type="name", help="Branch to sync."
)
PATH: Final[Setting[str]] = Setting(
    name="SVC_GITOPS_PATH",
    parse=_folder,
    default="",
    shown_default="the repository's root",
    type="folder",
    help="Folder of the repository that holds `pages/` and, optionally, `plugins.json`.",
)
POLL: Final[Setting[int]] = Setting(
    name="SVC_GITOPS_POLL",
    parse=whole_number(0, MAX_POLL_S),
    default=300,
    type="whole number",
    unit="seconds",
    help="How often the repository is asked for news after the sync at boot. 0: at boot only, and when told to.",
)
MODE: Final[Setting[str]] = Setting(
    name="SVC_GITOPS_MODE",
    parse=one_of(*MODES),
    default="readonly",
    type="name",
    help="`write-back` makes managed pages editable here; each edit becomes a commit in the repository.",
)
WRITEBACK_BRANCH: Final[Setting[str | None]] = Setting(
    name="SVC_GITOPS_WRITEBACK_BRANCH",
    parse=_branch,
    default=None,
    shown_default="the branch that is synced",
    type="name",
    help="In write-back mode: the branch that commits go to, if another, for a pull request.",
)
USERNAME: Final[Setting[str]] = Setting(
    name="SVC_GITOPS_GIT_USERNAME",
    parse=text,
    default="x-access-token",
    type="text",
    help="User name that goes with the token.",
)
SSH_KEY: Final[Setting[Path | None]] = Setting(
    name="SVC_GITOPS_SSH_KEY",
    parse=file_path,
    default=None,
    shown_default="as the user who runs the service",
    type="file",
    help="Private key (without a passphrase) for a repository by ssh. With it no agent, no other key and no ssh "
    "configuration of the user is read.",
)
SSH_KNOWN_HOSTS: Final[Setting[Path | None]] = Setting(
    name="SVC_GITOPS_SSH_KNOWN_HOSTS",
    parse=file_path,
    default=None,
    shown_default="those that ssh knows",
    type="file",
    help="The keys of the hosts that may be spoken with by ssh, as `ssh-keyscan` prints them. Others never are.",
)
FORGE: Final[Setting[str | None]] = Setting(
    name="SVC_GITOPS_FORGE",
    parse=one_of("github", "gitlab", "gitea"),
    default=None,
    shown_default="guessed from the host's name",
    type="name",
    help="How links to files at the forge are written, where its host's name does not tell.",
)

SETTINGS: Final = (REPO, BRANCH, PATH, POLL, MODE, WRITEBACK_BRANCH, USERNAME, SSH_KEY, SSH_KNOWN_HOSTS, FORGE)
