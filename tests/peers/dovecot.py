"""Dovecot, for tests: a mail server of its own on loopback, with STARTTLS, TLS and submission.

    with dovecot() as server:
        server.deliver("INBOX", raw)
        server.port, server.tls_port, server.submission_port, server.trusted

Each server has one mailbox (:data:`ADDRESS`), a certificate that nobody else trusts, and a relay that keeps what is
submitted. On loopback Dovecot takes every client for secured, whatever it is told; ``remote_port`` expects the PROXY
line :data:`FROM_ELSEWHERE` first, and then treats who asks as from elsewhere.
"""

from __future__ import annotations

import imaplib
import os
import pwd
import shutil
import socket
import ssl
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.peers.relay import Relay, relay
from tests.support.process import until

ADDRESS: Final = "alice@acme.test"
PASSWORD: Final = 'p"w\\d ü'
FROM_ELSEWHERE: Final = b"PROXY TCP4 192.0.2.7 192.0.2.1 40000 143\r\n"
START_DEADLINE_S: Final = 60.0
END_DEADLINE_S: Final = 10.0
FOLDERS: Final = ("INBOX", "Sent", "Drafts", "Trash", "Junk", "Archive")
MAILBOXES_OWNER: Final = "mail"
"""Dovecot reads no mail as root; every Debian has this user."""


def dovecot_path() -> str | None:
    return shutil.which("dovecot", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


@dataclass(kw_only=True)
class Dovecot:
    """One server. Every method but those that start and stop it is one or a few blocking commands of another client."""

    directory: Path
    port: int
    tls_port: int
    remote_port: int
    submission_port: int
    relay: Relay
    program: str
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns once it answers."""
        self._process = subprocess.Popen(
            [self.program, "-F", "-c", str(self.directory / "dovecot.conf")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _wait_until_it_answers(self, self._process)

    def stop(self) -> None:
        """Every connection ends."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(END_DEADLINE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    @property
    def certificate(self) -> Path:
        return self.directory / "tls.pem"

    @property
    def trusted(self) -> ssl.SSLContext:
        """For a client that trusts this server."""
        return ssl.create_default_context(cafile=str(self.certificate))

    @contextmanager
    def client(self) -> Iterator[imaplib.IMAP4]:
        """Another program at the same mailbox."""
        other = imaplib.IMAP4("127.0.0.1", self.port, timeout=START_DEADLINE_S)
        try:
            other.authenticate("PLAIN", lambda _: f"\0{ADDRESS}\0{PASSWORD}".encode())
            yield other
        finally:
            with suppress(OSError, imaplib.IMAP4.error):
                other.logout()

    def uids(self, folder: str) -> list[str]:
        with self.client() as other:
            _ok(other.select(f'"{folder}"', readonly=True))
            _, found = other.uid("SEARCH", "ALL")
        return (found[0] or b"").decode().split()

    def mails(self, folder: str) -> list[tuple[bytes, frozenset[str]]]:
        """All that lie there, as the server gives them, with their flags."""
        with self.client() as other:
            _ok(other.select(f'"{folder}"', readonly=True))
            _, found = other.uid("FETCH", "1:*", "(FLAGS BODY.PEEK[])")
        told = [one for one in found if isinstance(one, tuple)]
        return [
            (raw, frozenset(flag.decode() for flag in imaplib.ParseFlags(head)) - {"\\Recent"}) for head, raw in told
        ]

    def deliver(self, folder: str, *raws: bytes, flags: str = "") -> None:
        with self.client() as other:
            for raw in raws:
                _ok(other.append(f'"{folder}"', flags, "", raw))

    def do(self, folder: str, *commands: Sequence[str]) -> None:
        """Commands by UID in a folder: ``("STORE", "1:*", "+FLAGS", "(\\\\Seen)")``."""
        with self.client() as other:
            _ok(other.select(f'"{folder}"'))
            for command in commands:
                _ok(other.uid(*command))

    def make(self, folder: str) -> None:
        """``folder`` as the server writes it."""
        with self.client() as other:
            _ok(other.create(f'"{folder}"'))

    def uid(self, folder: str, subject: str) -> int:
        with self.client() as other:
            _ok(other.select(f'"{folder}"', readonly=True))
            _, found = other.uid("SEARCH", "HEADER", "SUBJECT", f'"{subject}"')
        return int(found[0].split()[-1])

    def count_anew(self, folder: str) -> None:
        """All mails stay, and each gets another UID: the folder as after a server has lost its indexes."""
        with self.client() as other:
            _ok(other.rename(f'"{folder}"', "Aside"))
            _ok(other.create(f'"{folder}"'))
            _ok(other.select("Aside"))
            other.uid("COPY", "1:*", f'"{folder}"')  # refused where there is none
            _ok(other.close())
            _ok(other.delete("Aside"))

    def number_anew(self, folder: str, *subjects: str) -> None:
        """The folder as if restored from elsewhere: these of its mails, in another order, with other UIDs."""
        with self.client() as other:
            _ok(other.select(f'"{folder}"'))
            _ok(other.create("Aside"))
            for subject in reversed(subjects):
                _, found = other.uid("SEARCH", "HEADER", "SUBJECT", f'"{subject}"')
                _ok(other.uid("COPY", found[0].decode(), "Aside"))
            _ok(other.close())
            _ok(other.delete(f'"{folder}"'))
            _ok(other.rename("Aside", f'"{folder}"'))

    def empty(self) -> None:
        """No mails, and only the folders that were there at first."""
        with self.client() as other:
            _, listed = other.list()
            for line in listed:
                assert isinstance(line, bytes)
                name = line.partition(b'"/" ')[2]
                if name.strip(b'"').decode() not in FOLDERS:
                    other._simple_command("DELETE", name)  # one that only has others below it goes with them
                    continue
                _ok(other.select(name.decode()))
                other.uid("STORE", "1:*", "+FLAGS.SILENT", "\\Deleted")
                _ok(other.expunge())

    def subjects(self, folder: str) -> list[tuple[str, frozenset[str]]]:
        """What lies in a folder: subjects with their flags, in order of arrival."""
        with self.client() as other:
            _ok(other.select(f'"{folder}"', readonly=True))
            _, found = other.uid("FETCH", "1:*", "(FLAGS BODY.PEEK[HEADER.FIELDS (SUBJECT)])")
        told = [one for one in found if isinstance(one, tuple)]
        return [
            (
                raw.decode(errors="replace").partition(":")[2].strip(),
                frozenset(flag.decode() for flag in imaplib.ParseFlags(head)) - {"\\Recent"},
            )
            for head, raw in told
        ]


@contextmanager
def dovecot(*, extra: str = "") -> Iterator[Dovecot]:
    """A fresh server. ``extra`` goes into its configuration. Wants ``needs(DOVECOT)``."""
    program = dovecot_path()
    assert program is not None, "run .ci/peers first"
    directory = Path(tempfile.mkdtemp(prefix="svc-dovecot-"))
    directory.chmod(0o755)
    with relay() as kept:
        ports = _free_ports(4)
        server = Dovecot(
            directory=directory,
            port=ports[0],
            tls_port=ports[1],
            remote_port=ports[2],
            submission_port=ports[3],
            relay=kept,
            program=program,
        )
        _make_certificate(directory)
        mails = directory / "mail"
        mails.mkdir()
        mails.chmod(0o755)
        if os.geteuid() == 0:
            shutil.chown(mails, MAILBOXES_OWNER, pwd.getpwnam(MAILBOXES_OWNER).pw_gid)
        passwords = directory / "passwd"
        passwords.write_text(f"{ADDRESS}:{{PLAIN}}{PASSWORD}\n")
        passwords.chmod(0o644)  # Dovecot asks as a user of its own
        (directory / "dovecot.conf").write_text(_configuration(server) + extra)
        try:
            server.start()
            yield server
        finally:
            server.stop()
            shutil.rmtree(directory, ignore_errors=True)


def _configuration(server: Dovecot) -> str:
    owner = MAILBOXES_OWNER if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    here = server.directory
    as_ourselves = (
        ""
        if os.geteuid() == 0
        else f"default_internal_user = {owner}\ndefault_login_user = {owner}\n"
        + "".join(f"service {name} {{\n chroot =\n}}\n" for name in ("imap-login", "submission-login"))
    )
    folders = "".join(
        f"  mailbox {name} {{\n    special_use = \\{name}\n    auto = subscribe\n  }}\n" for name in FOLDERS[1:]
    )
    return f"""
base_dir = {here}/run
state_dir = {here}/state
log_path = {here}/log
protocols = imap submission
listen = 127.0.0.1
hostname = localhost
ssl = required
ssl_cert = <{here}/tls.pem
ssl_key = <{here}/tls.key
disable_plaintext_auth = yes
auth_mechanisms = plain login
mail_location = maildir:{here}/mail/%u
mail_uid = {owner}
mail_gid = {owner}
first_valid_uid = 1
passdb {{
  driver = passwd-file
  args = scheme=PLAIN username_format=%u {here}/passwd
}}
userdb {{
  driver = static
  args = uid={owner} gid={owner} home={here}/mail/%u
}}
submission_relay_host = 127.0.0.1
submission_relay_port = {server.relay.port}
submission_relay_trusted = no
haproxy_trusted_networks = 127.0.0.1
service imap-login {{
  inet_listener imap {{
    port = {server.port}
  }}
  inet_listener imaps {{
    port = {server.tls_port}
    ssl = yes
  }}
  inet_listener imap-remote {{
    port = {server.remote_port}
    haproxy = yes
  }}
}}
service submission-login {{
  inet_listener submission {{
    port = {server.submission_port}
  }}
}}
service anvil {{
  chroot =
}}
{as_ourselves}
protocol imap {{
  mail_max_userip_connections = 50
}}
namespace inbox {{
  inbox = yes
  separator = /
{folders}}}
"""


def _make_certificate(directory: Path) -> None:
    key, certificate = str(directory / "tls.key"), str(directory / "tls.pem")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    command += ["-days", "30", "-keyout", key, "-out", certificate]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True)


def _free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(one.getsockname()[1]) for one in held]
    for one in held:
        one.close()
    return ports


def _wait_until_it_answers(server: Dovecot, process: subprocess.Popen[bytes]) -> None:
    log = server.directory / "log"

    def told() -> str:
        return log.read_text() if log.exists() else "no log"

    def answers() -> bool:
        assert process.poll() is None, f"Dovecot did not start:\n{told()}"
        with suppress(OSError, imaplib.IMAP4.error), server.client():
            return True
        return False

    until(answers, what="Dovecot to answer", deadline_s=START_DEADLINE_S, tell=told)


def _ok(answer: tuple[str, Any]) -> None:
    assert answer[0] == "OK", answer
