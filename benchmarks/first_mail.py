"""From nothing to the first mail on the screen: the package installed, the program started, a mailbox connected by its
address and a password as a person does it in Chromium. The limit is a minute.

The mailbox lies in a Dovecot on the same machine. Its servers are typed in, since nothing is found at a domain for
tests. The time a person's own hands take is not in it.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import Page, sync_playwright

from benchmarks.mailroom import some_mails
from benchmarks.processes import REPOSITORY, svc_serve
from benchmarks.report import Table, median, ratio
from tests.peers.dovecot import ADDRESS, PASSWORD, Dovecot, dovecot, dovecot_path
from tests.peers.needs import HEADLESS_PATH
from tests.support.browser import QUIET_FLAGS, launch

ROUNDS: Final = 3
QUICK_ROUNDS: Final = 1
MAILS: Final = 500
LIMIT_S: Final = 60.0
INSTALL: Final = "the package, into an environment of its own"
SERVE: Final = "svc, until it serves"
CONNECT: Final = "address and password, until both servers took them"
ROW: Final = "until the newest mail is a row"
ALL: Final = "all of it"


def run(quick: bool) -> Iterable[Table]:
    table = Table(title="From nothing to the first mail", columns=("step", "s", "x a minute"))
    missing = [name for name, there in (("Dovecot", dovecot_path()), ("Chromium", HEADLESS_PATH)) if not there]
    if missing:
        table.notes.append(f"not measured: {' and '.join(missing)} not here (.ci/peers)")
        yield table
        return
    rounds = QUICK_ROUNDS if quick else ROUNDS
    mails, what = some_mails(MAILS)
    found: dict[str, list[float]] = {}
    with TemporaryDirectory() as folder, dovecot() as server:
        server.deliver("INBOX", *mails)
        wheel = _wheel(Path(folder))
        for number in range(rounds):
            for step, seconds in _once(Path(folder) / str(number), wheel, server):
                found.setdefault(step, []).append(seconds)
    found[ALL] = [sum(each) for each in zip(*found.values(), strict=True)]
    for step, all_seconds in found.items():
        table.add(step, f"{median(all_seconds):.1f}", ratio(median(all_seconds), LIMIT_S))
    table.notes += [
        f"medians of {rounds} rounds; {len(mails)} mails in the mailbox: {what}",
        "the package is built before; its dependencies are fetched, or taken from pip's cache where they are in it",
    ]
    yield table


def _wheel(folder: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(REPOSITORY)],
        check=True,
    )
    return next(folder.glob("*.whl"))


def _once(folder: Path, wheel: Path, server: Dovecot) -> Iterator[tuple[str, float]]:
    """Each step with its seconds."""
    folder.mkdir()
    clock = time.perf_counter
    began = clock()
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    subprocess.run([str(folder / "venv/bin/python"), "-m", "pip", "install", "--quiet", str(wheel)], check=True)
    yield INSTALL, clock() - began
    svc = [str(folder / "venv/bin/svc")]
    with (
        svc_serve(folder / "home", program=svc, settings={"PROVIDERS": ""}) as served,
        _page(f"http://127.0.0.1:{served.port}/") as page,
    ):
        yield SERVE, served.ready_s
        began = clock()
        _connect(page, server)
        connected = clock()
        yield CONNECT, connected - began
        page.locator("[data-thread]").first.wait_for()
        yield ROW, clock() - connected


@contextmanager
def _page(address: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = launch(playwright.chromium, flags=QUIET_FLAGS)
        page = browser.new_page()
        page.set_default_timeout(LIMIT_S * 1_000)
        page.goto(address)
        yield page
        browser.close()


def _connect(page: Page, server: Dovecot) -> None:
    page.get_by_label("Address of the mailbox").fill(ADDRESS)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    for side, port, security in (
        ("Reading", server.tls_port, "tls"),
        ("Sending", server.submission_port, "starttls"),
    ):
        group = page.get_by_role("group", name=side)
        group.get_by_label("Host").fill("127.0.0.1")
        group.get_by_label("Port").fill(str(port))
        group.get_by_label("Security").select_option(security)
    page.locator(".password-form").get_by_role("button", name="Connect", exact=True).click()
    for port in (server.tls_port, server.submission_port):
        page.get_by_role("alert").filter(has_text=f"127.0.0.1:{port}").wait_for()
        page.get_by_role("button", name="Accept for this account").click()
    page.get_by_label("Password", exact=True).wait_for(state="hidden")
