"""What a test needs of the machine: it is there, or the test is skipped and says what is missing and how to get it.

    @needs(EMULATOR, CORPUS)
    def test_anything() -> None: ...

Where ``CI=true`` nothing is skipped for that: a run that was to try everything fails when it can't.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from svc.plugins.npm import OLDEST
from tests.formats.mime import corpus
from tests.peers.aimock import AIMOCK_PATH, SDKS_PATH
from tests.peers.buckets import rclone_path
from tests.peers.cache import emulator_files, peers_dir
from tests.peers.clouds import azurite_path, google_storage_path
from tests.peers.dovecot import dovecot_path
from tests.peers.local_model import PYTHON_PATH
from tests.peers.maildirs import programs_are_there
from tests.peers.moto import moto_path
from tests.peers.postgres import pgbouncer_path, postgres_programs
from tests.peers.sshd import sshd_path

CHROMIUM_PATH: Final = Path("/usr/bin/chromium")
"""The whole browser: with its viewers of documents, and its own guards."""
HEADLESS_PATH: Final = Path(shutil.which("chromium-headless-shell") or CHROMIUM_PATH)
"""The same engine without a desktop's browser around it, which halves what a page costs; else the whole one."""
FIREFOX_PATH: Final = Path(shutil.which("firefox-esr") or shutil.which("firefox") or "/usr/bin/firefox-esr")
AXE_PATH: Final = peers_dir() / "node_modules" / "axe-core" / "axe.min.js"
MCP_CONFORMANCE_PATH: Final = (
    peers_dir() / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
)
MCP_INSPECTOR_PATH: Final = (
    peers_dir() / "mcp-inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
)
NODE_PATH: Final = next(iter(sorted(map(str, peers_dir().glob("node_modules/node-*/bin/node")))), "")
"""A Node of the version that all outside systems run with."""
AUTOBAHN_PATH: Final = peers_dir() / "autobahn" / "bin" / "kosoku"
VERDACCIO_PATH: Final = peers_dir() / "verdaccio" / "node_modules" / "verdaccio" / "bin" / "verdaccio"
_VENDOR: Final = Path(__file__).parents[2] / "static" / "vendor" / "preact.mjs"
_OPENID_PACKAGES: Final = ("oidc-provider", "jose", "oauth2-mock-server")
_MARKER: Final = "needs"


@dataclass(frozen=True, kw_only=True)
class Need:
    """``get`` completes "…: ": what a person does to have it."""

    name: str
    get: str
    is_there: Callable[[], bool]


def _packages(*names: str) -> bool:
    return all((peers_dir() / "node_modules" / name).is_dir() for name in names)


@cache
def _npm_version() -> tuple[int, ...]:
    program = shutil.which("npm")
    if program is None:
        return ()
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in said.strip().split(".")[:2] if part.isdigit())


_FROM_PEERS: Final = f"run .ci/peers, which puts it into {peers_dir()} (SVC_PEERS)"

CHROMIUM: Final = Need(
    name="Chromium", get="run .ci/peers as root, or apt-get install chromium", is_there=CHROMIUM_PATH.exists
)
FIREFOX: Final = Need(
    name="Firefox", get="run .ci/peers as root, or apt-get install firefox-esr", is_there=FIREFOX_PATH.exists
)
VENDOR: Final = Need(name="static/vendor", get="run make static/vendor/.stamp", is_there=_VENDOR.exists)
MCP_CONFORMANCE: Final = Need(
    name="the MCP conformance suite",
    get=_FROM_PEERS,
    is_there=lambda: MCP_CONFORMANCE_PATH.exists() and bool(NODE_PATH),
)
AUTOBAHN: Final = Need(name="Autobahn's cases", get=_FROM_PEERS, is_there=AUTOBAHN_PATH.is_file)
MCP_INSPECTOR: Final = Need(
    name="the MCP inspector",
    get="run SVC_SOAK=1 .ci/peers",
    is_there=lambda: MCP_INSPECTOR_PATH.exists() and bool(NODE_PATH),
)
RESTIC: Final = Need(
    name="restic", get="run .ci/peers as root, or apt-get install restic", is_there=lambda: bool(shutil.which("restic"))
)
NODE: Final = Need(
    name="Node.js",
    get="run .ci/peers as root, or install Node.js 20 or newer",
    is_there=lambda: bool(shutil.which("node")),
)
NPM: Final = Need(
    name=f"npm {OLDEST[0]}.{OLDEST[1]}",
    get="install Node.js with it, or run: npm install -g npm@11",
    is_there=lambda: _npm_version() >= OLDEST,
)
COMMONMARK_SPEC: Final = Need(
    name="commonmark-spec in static/node_modules",
    get="run make static/vendor/.stamp",
    is_there=lambda: (_VENDOR.parents[1] / "node_modules" / "commonmark-spec").is_dir(),
)
AXE: Final = Need(name="axe-core", get=_FROM_PEERS, is_there=AXE_PATH.is_file)
TRPC_CLIENT: Final = Need(
    name="@trpc/client in static/node_modules",
    get="run make static/vendor/.stamp",
    is_there=lambda: (_VENDOR.parents[1] / "node_modules" / "@trpc" / "client").is_dir(),
)
TUS_CLIENT: Final = Need(name="tus-js-client", get=_FROM_PEERS, is_there=lambda: _packages("tus-js-client"))
AIMOCK: Final = Need(
    name="aimock", get=_FROM_PEERS, is_there=lambda: AIMOCK_PATH.is_file() and bool(shutil.which("node"))
)
VENDOR_SDKS: Final = Need(name="the model vendors' SDKs", get=_FROM_PEERS, is_there=SDKS_PATH.is_file)
EMULATOR: Final = Need(name="the Google emulator", get=_FROM_PEERS, is_there=lambda: emulator_files() is not None)
OPENID: Final = Need(
    name="the OpenID providers",
    get=_FROM_PEERS,
    is_there=lambda: emulator_files() is not None and _packages(*_OPENID_PACKAGES),
)
DOVECOT: Final = Need(
    name="Dovecot",
    get="run .ci/peers as root, or apt-get install dovecot-imapd dovecot-submissiond openssl",
    is_there=lambda: dovecot_path() is not None and bool(shutil.which("openssl")),
)
POSTGRES: Final = Need(
    name="PostgreSQL",
    get="run .ci/peers as root, or apt-get install postgresql openssl",
    is_there=lambda: postgres_programs() is not None and bool(shutil.which("openssl")),
)
PGBOUNCER: Final = Need(
    name="PgBouncer",
    get="run .ci/peers as root, or apt-get install pgbouncer",
    is_there=lambda: pgbouncer_path() is not None,
)
KMS: Final = Need(name="moto", get=_FROM_PEERS, is_there=lambda: moto_path() is not None)
S3: Final = Need(name="rclone", get=_FROM_PEERS, is_there=lambda: rclone_path() is not None)
SSHD: Final = Need(
    name="sshd",
    get="run .ci/peers as root, or apt-get install openssh-server",
    is_there=lambda: sshd_path() is not None,
)
VERDACCIO: Final = Need(
    name="verdaccio", get=f"run SVC_SOAK=1 .ci/peers, which puts it into {peers_dir()}", is_there=VERDACCIO_PATH.is_file
)
AZURITE: Final = Need(
    name="Azurite",
    get=f"run SVC_SOAK=1 .ci/peers, which puts it into {peers_dir()}",
    is_there=lambda: azurite_path().is_file(),
)
GOOGLE_STORAGE: Final = Need(
    name="the emulator of Google's storage",
    get=f"run SVC_SOAK=1 .ci/peers, which puts it into {peers_dir()}",
    is_there=lambda: google_storage_path().is_file(),
)
LOCAL_MODEL: Final = Need(
    name="llama.cpp with a model",
    get=f"run SVC_SOAK=1 .ci/peers, which puts it into {peers_dir()}",
    is_there=PYTHON_PATH.is_file,
)
MAILDIRS: Final = Need(
    name="mbsync or notmuch",
    get="run .ci/peers as root, or apt-get install isync notmuch",
    is_there=programs_are_there,
)
CORPUS: Final = Need(name="the mail corpus", get=_FROM_PEERS, is_there=corpus.is_present)


def needs(*wanted: Need) -> pytest.MarkDecorator:
    return pytest.mark.needs(*wanted)


def check_marked(item: pytest.Item) -> None:
    for mark in item.iter_markers(_MARKER):
        need(*mark.args)


def need(*wanted: Need) -> None:
    """Goes on where all of it is there. The one place that skips a test for what a machine lacks."""
    for one in wanted:
        if not one.is_there():
            reason = f"{one.name} is missing: {one.get}"
            if os.environ.get("CI") == "true":
                pytest.fail(f"{reason} (CI=true: nothing may be skipped for it)", pytrace=False)
            pytest.skip(reason)
