"""The ``svc`` command as a process: what it prints, how it ends, and what it never says."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE, CompletedProcess, Popen, run

import pytest

from svc import __version__
from svc.app import all_settings
from svc.cli import EXIT_INTERRUPTED, EXIT_PIPE_CLOSED, main
from tests.sizes import HANGS_S
from tests.support.process import ROOT, ServiceProcess, run_svc, until

pytestmark = pytest.mark.thorough

DRAIN_S = 120  # as long as may be: no machine is so slow that a request does not finish within it


def svc(*arguments: str, **settings: str) -> CompletedProcess[str]:
    """One command in an environment of its own."""
    return run_svc(*arguments, environ=settings, warm="--role=worker" not in arguments)  # it loads little by itself


def test_help_names_every_command_and_where_the_settings_are() -> None:
    done = svc("--help")
    assert (done.returncode, done.stderr) == (0, "")
    for word in ("serve", "config", "fsck", "claim", "invite", "user", "device", "people", "session"):
        assert f"\n    {word} " in done.stdout
    assert "svc config" in " ".join(done.stdout.split())


def test_what_is_no_command_is_a_usage_error() -> None:
    done = svc("sevre")
    assert (done.returncode, done.stdout) == (2, "")
    assert "sevre" in done.stderr
    assert "Traceback" not in done.stderr
    assert svc("--version").stdout == f"svc {__version__}\n"


def test_the_version_is_said_without_loading_the_program() -> None:
    code = "import sys; from svc.cli import main; main(['--version']); print('svc.commands' in sys.modules)"
    done = run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=HANGS_S)
    assert (done.stdout, done.stderr) == (f"svc {__version__}\nFalse\n", "")


def test_a_role_that_there_is_not_is_refused_and_nothing_is_opened(tmp_path: Path) -> None:
    done = svc("serve", "--role=both", HOME=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "both" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_worker_without_the_token_is_refused_and_nothing_is_opened(tmp_path: Path) -> None:
    done = svc("serve", "--role=worker", HOME=str(tmp_path), SVC_WORKER_URL=":0", IDP_CLIENT_SECRET="planted")
    assert (done.returncode, done.stdout) == (78, "")
    assert done.stderr.startswith("SVC_INTERNAL_TOKEN: ")
    assert list(tmp_path.iterdir()) == []


def test_config_shows_each_setting_with_its_source_and_no_secret(tmp_path: Path) -> None:
    settings = {
        "HOME": str(tmp_path),
        "SVC_PORT": "4999",
        "IDP_CLIENT_ID": "id.example",
        "IDP_CLIENT_SECRET": "canary-client-secret",
    }
    table, as_json = svc("config", **settings), svc("config", "--json", **settings)
    assert (table.returncode, as_json.returncode) == (0, 0)
    assert "canary" not in table.stdout + table.stderr + as_json.stdout + as_json.stderr
    rows = {row["name"]: row for row in json.loads(as_json.stdout)}
    assert set(rows) == {setting.name for setting in all_settings()}
    assert (rows["SVC_PORT"]["value"], rows["SVC_PORT"]["source"]) == ("4999", "environment")
    assert (rows["SVC_HOME"]["value"], rows["SVC_HOME"]["source"]) == (str(tmp_path / "Svc"), "default")
    assert (rows["IDP_CLIENT_SECRET"]["value"], rows["IDP_CLIENT_ID"]["value"]) == ("********", "id.example")
    assert all(row["help"] for row in rows.values())
    for name in rows:
        assert f"{name} " in table.stdout
    assert list(tmp_path.iterdir()) == []


def test_every_fault_of_the_environment_is_told_by_every_command(tmp_path: Path) -> None:
    wrong = {
        "HOME": str(tmp_path),
        "SVC_PORT": "http",
        "PROVIDERS": "real",
        "SVC_LOG": "loud",
        "SVC_DRAIN_SECONDS": "-1",
        "SVC_MAIL_API_URL": "http://mail.example",
    }
    for command in ("serve", "config"):
        done = svc(command, **wrong)
        assert (done.returncode, done.stdout) == (78, "")
        told = done.stderr.splitlines()
        assert sorted(line.partition(": ")[0] for line in told) == sorted(set(wrong) - {"HOME"})
        assert all("; " in line for line in told), "what is wrong; what to do"
    assert list(tmp_path.iterdir()) == []


def test_config_is_a_table_that_explains_itself(tmp_path: Path) -> None:
    done = svc("config", HOME=str(tmp_path), SVC_CORS_ORIGINS="https://a.example,https://b.example")
    title, *lines = done.stdout.splitlines()
    assert title.split() == ["NAME", "VALUE", "SOURCE", "HELP"]
    rows = {line.split()[0]: line for line in lines}
    assert "  https://a.example https://b.example  " in rows["SVC_CORS_ORIGINS"]
    assert rows["SVC_PORT"].split(maxsplit=3)[1:3] == ["4780", "default"]
    for setting in all_settings():
        assert rows[setting.name].endswith(setting.help)
    assert "()" not in done.stdout


def test_a_reader_that_has_had_enough_ends_a_command_without_a_word(tmp_path: Path) -> None:
    """As in `svc config | head`."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = [sys.executable, "-m", "svc", "config"]
        ended = run(command, cwd=ROOT, env={"HOME": str(tmp_path)}, stdout=writer, stderr=PIPE, timeout=HANGS_S)
    finally:
        os.close(writer)
    assert (ended.returncode, ended.stderr) == (EXIT_PIPE_CLOSED, b"")


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_a_full_disk_for_the_output_is_told_in_a_sentence(tmp_path: Path) -> None:
    """As in `svc claim … > file`: it is noticed at the end, when the rest of the output is written."""
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "svc", "claim", "--email", "mia@example.org"]
        ended = run(command, cwd=ROOT, env={"HOME": str(tmp_path)}, stdout=full, stderr=PIPE, timeout=HANGS_S)
    assert (ended.returncode, ended.stderr) == (1, b"The output can't be written: No space left on device\n")


@pytest.mark.share(2)
@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_that_can_not_be_written_is_told_too(option: str, unbuffered: str, tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("wb") as full:
        ended = run([sys.executable, "-m", "svc", option], cwd=ROOT, env=env, stdout=full, stderr=PIPE, timeout=HANGS_S)
    assert (ended.returncode, ended.stderr) == (1, b"The output can't be written: No space left on device\n")


@pytest.mark.parametrize(("command", "code"), [("svc nonsense 2>&-", 2), ("svc --version >&-", 0)])
def test_where_nobody_can_read_what_it_says_the_exit_code_is_the_same(command: str, code: int, tmp_path: Path) -> None:
    words = command.replace("svc", f'"{sys.executable}" -m svc', 1)
    ended = run(words, shell=True, cwd=ROOT, env={"HOME": str(tmp_path)}, capture_output=True, timeout=HANGS_S)
    assert ended.returncode == code, ended.stderr


@pytest.mark.parametrize(
    ("home", "words", "said", "code"),
    [
        ("home", ["claim", "--email", "nonsense"], "That is not a mail address.", 2),
        ("/proc/nowhere", ["claim", "--email", "mia@example.org"], "/proc/nowhere can't be used: ", 1),
    ],
)
def test_a_slip_is_told_in_a_sentence_and_nothing_is_made(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    home: str,
    words: list[str],
    said: str,
    code: int,
) -> None:
    monkeypatch.setenv("SVC_HOME", str(tmp_path / home))
    assert main(words) == code
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert said in told.err
    assert not (tmp_path / home).exists()


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "/a/file"), "/a/file can't be used: Permission denied\n"),
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device\n"),
        (OSError(errno.EBADF, "Bad file descriptor"), None),
        (OSError("no number and no file"), None),
    ],
)
def test_a_bug_of_a_command_keeps_its_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fault: OSError, said: str | None
) -> None:
    def broken(*given: object) -> None:
        raise fault

    monkeypatch.setattr("svc.commands._read", broken)
    if said is None:
        with pytest.raises(OSError, match=re.escape(str(fault))):
            main(["config"])
    else:
        assert main(["config"]) == 1
        assert capsys.readouterr().err == said


def test_ctrl_c_ends_a_command_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: object) -> int:
        raise BaseExceptionGroup("of a nursery", [found])

    monkeypatch.setattr("svc.commands.run", interrupted)
    found: BaseException = KeyboardInterrupt()
    assert main(["config"]) == EXIT_INTERRUPTED
    found = BaseExceptionGroup("a bug besides", [found, ValueError()])
    with pytest.raises(BaseExceptionGroup):
        main(["config"])


def test_a_variable_that_is_no_setting_is_told_with_the_nearest_one(tmp_path: Path) -> None:
    done = svc("config", "--json", HOME=str(tmp_path), SVC_PROT="4999", SVC_ZZZZZZ="x")
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "SVC_PROT is not a setting of this version; did you mean SVC_PORT?",
        "SVC_ZZZZZZ is not a setting of this version",
    ]


# What a start looks at first


def test_every_fault_of_a_start_is_told_at_once_and_nothing_is_touched(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        wrong = {"SVC_HOME": str(tmp_path / "file"), "SVC_PORT": str(port), "SVC_LOG": "loud", "HOME": str(tmp_path)}
        done = svc("serve", SVC_INTERNAL_PORT="0", **wrong)
    assert (done.returncode, done.stdout) == (78, "")
    assert [line.partition(": ")[0] for line in done.stderr.splitlines()] == ["SVC_LOG", "SVC_HOME", "SVC_PORT"]
    assert f"port {port} is in use by another program" in done.stderr
    assert (tmp_path / "file").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    "words",
    [
        "user promote mia@example.org",
        "user demote mia@example.org",
        "device revoke dev_1",
        "session revoke --all",
        "secrets rotate",
        "mail reindex",
        "backup",
    ],
)
def test_a_command_about_what_is_there_makes_no_home(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SVC_HOME", str(tmp_path / "mistyped"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert main(words.split()) == 78
    assert "is no home of this service; start `svc serve` once, or set SVC_HOME" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", ["invite --days 366", "invite --days 0", "invite --email mia", "claim --email mia"])
def test_an_invite_or_a_claim_that_makes_no_sense_is_wrong_usage_and_makes_no_home(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SVC_HOME", str(tmp_path / "home"))
    assert main(words.split()) == 2
    assert "1 to 365 days" in (said := capsys.readouterr().err) or "mail address" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("lived_in_before", [False, True])
def test_where_others_can_reach_it_an_unclaimed_instance_needs_its_token(tmp_path: Path, lived_in_before: bool) -> None:
    settings = {"HOME": str(tmp_path), "SVC_HOME": str(tmp_path / "home"), "SVC_PORT": "0"}
    settings["XDG_CONFIG_HOME"] = str(tmp_path / "config")
    if lived_in_before:
        assert svc("invite", **settings).returncode == 0
    before = sorted(tmp_path.rglob("*"))
    done = svc("serve", SVC_HOST=other_address(), **settings)
    assert (done.returncode, done.stdout) == (78, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("SVC_CLAIM_TOKEN: ")
    assert [path for path in sorted(tmp_path.rglob("*")) if not path.name.endswith(("-shm", "-wal"))] == before


def test_a_bootstrap_invite_stands_for_the_token(process: ServiceProcess) -> None:
    assert process.command("invite", "--admin").returncode == 0
    host = other_address()
    process.spawn(SVC_HOST=host)
    until(
        lambda: bool(process.events("http.listening")),
        what="the log to say that it listens",
        deadline_s=HANGS_S,
        tell=process.log,
    )
    assert process.events("http.listening")[0]["origin"] == f"http://{host}:{process.port}"
    assert process.stop() == 0


def other_address() -> str:
    """An address of this machine that is not loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
        except OSError:
            pytest.skip("this machine has no address but loopback's: connect it to a network")
        return str(probe.getsockname()[0])


def test_a_second_start_is_told_who_holds_the_home_though_the_port_is_taken_too(process: ServiceProcess) -> None:
    process.start(PROVIDERS="fake")
    environ = {"HOME": str(process.directory), "SVC_HOME": str(process.home), "SVC_PORT": str(process.port)}
    done = svc("serve", **environ)
    assert done.returncode == 75
    assert f"process {process.pid}" in done.stderr.splitlines()[0]
    assert process.is_ready()


@pytest.mark.share(3)
@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("localhost", "127.0.0.1"), ("::1", "[::1]")])
def test_a_start_says_what_to_open(tmp_path: Path, host: str, shown: str) -> None:
    settings = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"), "PROVIDERS": "fake"}
    claimed = svc("claim", "--email", "mia@example.org", SVC_HOST=host, SVC_PORT="4999", **settings)
    assert claimed.stdout.startswith(f"http://{shown}:4999/login?claim=")
    arguments = [sys.executable, "-m", "svc"]
    environ = {**settings, "SVC_HOST": host, "SVC_PORT": "0"}
    with Popen(arguments, cwd=ROOT, env=environ, stdout=PIPE, stderr=DEVNULL, text=True) as started:
        assert started.stdout is not None
        line = started.stdout.readline()
        beside = svc("claim", "--email", "mia@example.org", **environ)
        started.send_signal(signal.SIGTERM)
        assert started.wait(HANGS_S) == 0
    assert re.fullmatch(rf"Open http://{re.escape(shown)}:[1-9][0-9]+ in a browser\.\n", line)
    assert beside.stdout.startswith(f"{line.split()[1]}/login?claim=")
    before_a_start = svc("claim", "--email", "mia@example.org", **environ)
    assert before_a_start.stdout.startswith("/login?claim=")
    assert "SVC_PORT is 0" in before_a_start.stderr


# Signals


@pytest.fixture
def process(tmp_path: Path) -> Iterator[ServiceProcess]:
    with ServiceProcess(tmp_path) as one:
        yield one


class HalfAsked:
    """A connection with half a request on it."""

    def __init__(self, process: ServiceProcess) -> None:
        self._socket = socket.create_connection(("127.0.0.1", process.port), timeout=HANGS_S)
        fields = f"host: 127.0.0.1:{process.port}\r\ncontent-type: application/json\r\ncontent-length: 16"
        expect = "expect: 100-continue"  # its answer tells that the service is at work on it
        self._socket.sendall(f"POST /trpc/mail.archive HTTP/1.1\r\n{fields}\r\n{expect}\r\n\r\n".encode())
        assert self._socket.recv(100).startswith(b"HTTP/1.1 100 ")

    def rest(self) -> bytes:
        """Ask the other half, and read the answer to its end."""
        self._socket.sendall(b'{"threadIds":[]}')
        return self.answer()

    def answer(self) -> bytes:
        data = b""
        while piece := self._socket.recv(65_536):
            data += piece
        self._socket.close()
        return data


def port_is_closed(process: ServiceProcess) -> bool:
    try:
        socket.create_connection(("127.0.0.1", process.port), timeout=HANGS_S).close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_signal_lets_the_request_in_flight_finish(process: ServiceProcess) -> None:
    process.start(PROVIDERS="fake", SVC_DRAIN_SECONDS=str(DRAIN_S))
    asked = HalfAsked(process)
    process.send(signal.SIGTERM)
    until(lambda: port_is_closed(process), what="the port to close", deadline_s=HANGS_S)
    answer = asked.rest()
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b'{"result":{"data":{}}}')
    assert process.wait() == 0
    assert "Traceback" not in process.log()


def test_a_second_signal_does_not_wait_for_it(process: ServiceProcess) -> None:
    process.start(PROVIDERS="fake", SVC_DRAIN_SECONDS=str(DRAIN_S))
    asked = HalfAsked(process)
    process.send(signal.SIGTERM)
    until(lambda: port_is_closed(process), what="the port to close", deadline_s=HANGS_S)
    process.send(signal.SIGINT)
    assert process.wait() == 0
    assert asked.answer() == b""
    assert process.events("drain.cut_short")
    assert "Traceback" not in process.log()


def test_signals_until_the_very_end_change_nothing_of_a_clean_end(process: ServiceProcess) -> None:
    """A supervisor that asks again and again: also while the database is closed and the interpreter ends."""
    process.start(PROVIDERS="fake", SVC_DRAIN_SECONDS=str(DRAIN_S))
    stopped = threading.Event()

    def insist() -> None:
        with suppress(AssertionError):  # it is gone
            while not stopped.is_set():
                process.send(signal.SIGTERM)
                stopped.wait(0.001)

    insisting = threading.Thread(target=insist)
    insisting.start()
    try:
        assert process.wait() == 0
    finally:
        stopped.set()
        insisting.join()
    assert "Traceback" not in process.log()


# Secrets


def test_no_secret_is_in_the_log_of_a_server(process: ServiceProcess) -> None:
    process.start(
        IDP_CLIENT_ID="id.example",
        IDP_CLIENT_SECRET="canary-client-secret",
        SVC_IDP_ISSUER="http://127.0.0.1:1",  # nobody is there
    )
    process.request("GET", "/oauth/mail/start?email=canary-hint@example.org")
    process.request("GET", "/oauth/mail/callback?state=canary-state&code=canary-code")
    process.request("GET", "/livez", headers={"cookie": "svc_session=canary-session; svc_oauth=canary-browser"})
    process.request("GET", "/files/x/content", headers={"x-svc-device-token": "sdt_canary-token"})
    process.request("GET", "/ws?ticket=canary-ticket")
    process.request("GET", '/trpc/mail.thread?input={"id":"canary-input"}'.replace('"', "%22"))
    assert process.stop() == 0
    assert process.events("http.request")
    assert "canary" not in process.log()
