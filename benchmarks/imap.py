"""A mailbox at Dovecot read in whole, and asked again when nothing happened: the whole program beside mbsync, and
beside OfflineIMAP where that is installed.

All make every mail durable (mbsync with ``FSync yes``, OfflineIMAP with ``fsync``, as they do by themselves), all speak
TLS through the same wire, which counts bytes and turns: how often who asks has to wait for an answer. The peers write
files; svc parses each mail, keeps its parts, threads and lists, and has it searchable soon after.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.mailroom import some_mails, sync_disks, wait_for_rows
from benchmarks.report import Table, count, median, paired_ratio
from tests.peers.dovecot import ADDRESS, PASSWORD, Dovecot, dovecot, dovecot_path
from tests.support.process import ServiceProcess, until

MAILS: Final = 5_000
QUICK_MAILS: Final = 300
ROUNDS: Final = 3
QUICK_ROUNDS: Final = 1
LONGEST_S: Final = 600.0
READ_BYTES: Final = 64 * 1024
SVC: Final = "svc"
MBSYNC: Final = "mbsync, FSync yes"
OFFLINEIMAP: Final = "OfflineIMAP, fsync"


@dataclass(kw_only=True)
class Wire:
    """A port that stands for another one. ``turns``: how often the client spoke after the server did."""

    port: int = 0
    to: int
    bytes: int = 0
    turns: int = 0
    _was_answered: bool = True
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def counted(self) -> Iterator[list[int]]:
        """Bytes and turns of what happens within."""
        before = (self.bytes, self.turns)
        found: list[int] = []
        yield found
        found += [self.bytes - before[0], self.turns - before[1]]

    def serve(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", self.to))
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=self._carry, args=(*pair, pair[0] is client), daemon=True).start()

    def _carry(self, here: socket.socket, there: socket.socket, is_client: bool) -> None:
        with suppress(OSError):
            while data := here.recv(READ_BYTES):
                with self._lock:
                    self.bytes += len(data)
                    self.turns += is_client and self._was_answered
                    self._was_answered = not is_client
                there.sendall(data)
        for one in (here, there):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def run(quick: bool) -> Iterable[Table]:
    pull = Table(title="First full pull from Dovecot by TLS", columns=("program", "mails/s", "s", "x mbsync"))
    poll = Table(title="A poll when nothing happened", columns=("program", "bytes", "turns"))
    programs = (("Dovecot", dovecot_path()), ("mbsync", shutil.which("mbsync")))
    missing = [name for name, there in programs if not there]
    if missing:
        pull.notes.append(f"not measured: {' and '.join(missing)} not here (.ci/peers; apt-get install isync)")
        yield pull
        return
    mails, what = some_mails(QUICK_MAILS if quick else MAILS)
    rounds = QUICK_ROUNDS if quick else ROUNDS
    seconds: dict[str, list[float]] = {SVC: [], MBSYNC: []}
    asked: dict[str, list[int]] = {}
    peers = {MBSYNC: _by_mbsync}
    if shutil.which("offlineimap"):
        peers[OFFLINEIMAP] = _by_offlineimap
    else:
        pull.notes.append("not measured: OfflineIMAP is not here (apt-get install offlineimap3)")
    with TemporaryDirectory() as folder, dovecot() as server, _wire(server.tls_port) as wire:
        server.deliver("INBOX", *mails)
        for number in range(rounds):
            for name, pulled in peers.items():
                sync_disks()
                at = Path(folder) / f"{pulled.__name__}-{number}"
                took_s, asked[name] = pulled(at, server, wire)
                seconds.setdefault(name, []).append(took_s)
            sync_disks()
            took_s, asked[SVC] = _by_svc(Path(folder) / f"svc-{number}", server, wire, len(mails))
            seconds[SVC].append(took_s)
    for name, took in seconds.items():
        rates = [len(mails) / one for one in took]
        others = [len(mails) / one for one in seconds[MBSYNC]]
        pull.add(name, count(median(rates)), f"{median(took):.1f}", paired_ratio(rates, others))
        poll.add(name, *map(count, asked[name]))
    pull.notes.append(f"{len(mails)} mails: {what}; medians of {rounds} interleaved round(s)")
    poll.notes.append("the peers sign in each time; svc holds its connection, and hears of new mail by IDLE beside it")
    yield pull
    yield poll


def _by_mbsync(folder: Path, server: Dovecot, wire: Wire) -> tuple[float, list[int]]:
    (folder / "mail").mkdir(parents=True)
    (folder / "password").write_text(PASSWORD)
    configuration = folder / "mbsyncrc"
    configuration.write_text(f"""
FSync yes

IMAPAccount there
Host localhost
Port {wire.port}
User {ADDRESS}
PassCmd "cat {folder / "password"}"
SSLType IMAPS
CertificateFile {server.certificate}

IMAPStore there
Account there

MaildirStore here
Path {folder / "mail"}/
Inbox {folder / "mail" / "INBOX"}
SubFolders Verbatim

Channel all
Far :there:
Near :here:
Patterns *
Create Near
Sync Pull
SyncState *
""")
    return _twice(["mbsync", "--quiet", "--config", str(configuration), "all"], wire)


def _by_offlineimap(folder: Path, server: Dovecot, wire: Wire) -> tuple[float, list[int]]:
    (folder / "mail").mkdir(parents=True)
    configuration = folder / "offlineimaprc"
    configuration.write_text(f"""
[general]
accounts = all
metadata = {folder / "state"}
fsync = True
maxsyncaccounts = 1
ui = quiet

[Account all]
localrepository = here
remoterepository = there

[Repository here]
type = Maildir
localfolders = {folder / "mail"}

[Repository there]
type = IMAP
remotehost = localhost
remoteport = {wire.port}
remoteuser = {ADDRESS}
remotepass = {PASSWORD}
ssl = yes
sslcacertfile = {server.certificate}
readonly = True
""")
    return _twice(["offlineimap", "-o", "-c", str(configuration)], wire)


def _twice(command: list[str], wire: Wire) -> tuple[float, list[int]]:
    """Everything, timed; then once more when nothing happened, counted."""
    began = time.perf_counter()
    subprocess.run(command, check=True, timeout=LONGEST_S)
    took_s = time.perf_counter() - began
    with wire.counted() as asked:
        subprocess.run(command, check=True, timeout=LONGEST_S)
    return took_s, asked


def _by_svc(folder: Path, server: Dovecot, wire: Wire, mails: int) -> tuple[float, list[int]]:
    folder.mkdir()
    with ServiceProcess(folder) as service:
        service.start(SSL_CERT_FILE=str(server.certificate))
        began = time.perf_counter()
        account_id = service.mutate(
            "mail.connectImap",
            address=ADDRESS,
            password=PASSWORD,
            imap={"host": "localhost", "port": wire.port, "security": "tls"},
            smtp={"host": "localhost", "port": server.submission_port, "security": "starttls"},
        )["accountId"]
        wait_for_rows(service, "mail_messages", mails, deadline_s=LONGEST_S)
        took_s = time.perf_counter() - began
        until(lambda: _state(service) == "caught-up", what="the account", deadline_s=LONGEST_S, tell=service.log)
        service.mutate("mail.retryFailures", accountId=account_id)
        with wire.counted() as asked:
            service.mutate("mail.retryFailures", accountId=account_id)
        service.stop()
    return took_s, asked


def _state(service: ServiceProcess) -> str:
    return str(service.rows("select state from mail_accounts")[0][0])


@contextmanager
def _wire(port: int) -> Iterator[Wire]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        wire = Wire(port=int(listener.getsockname()[1]), to=port)
        thread = threading.Thread(target=wire.serve, args=(listener,), daemon=True)
        thread.start()
        yield wire
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()
