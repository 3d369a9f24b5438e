"""The log: two forms, no secrets, no line that a stranger wrote, and never a reason to fail."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from io import BytesIO, StringIO, TextIOWrapper

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.log import REDACTED, TEXT_MAX_CHARS, Level, Log, redact
from tests.recorded_log import RecordedLog, StoppedClock

CANARY = "cAnArY0123456789abcdef"


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def json_log(sink: StringIO, *, level: Level = "info") -> Log:
    return Log(sink, readable=False, clock=StoppedClock(), level=level)


def readable_log(sink: StringIO) -> Log:
    return Log(sink, readable=True, clock=StoppedClock(), level="debug")


def fault(message: str) -> Exception:
    """An exception with a traceback."""
    try:
        raise RuntimeError(message)
    except RuntimeError as error:
        return error


# Form


def test_a_json_record_is_one_line_with_time_level_event_and_fields() -> None:
    sink = StringIO()
    json_log(sink).info("mail.synced", account="acc_1", messages=3, fresh=True, problem=None)
    assert sink.getvalue().endswith("}\n")
    assert json.loads(sink.getvalue()) == {
        "at": "2026-10-27T08:00:00.000Z",
        "level": "info",
        "event": "mail.synced",
        "account": "acc_1",
        "messages": 3,
        "fresh": True,
        "problem": None,
    }


def test_a_readable_record_is_one_aligned_line() -> None:
    sink = StringIO()
    log = readable_log(sink)
    log.info("mail.synced", account="acc_1", messages=3)
    log.warning("http.slow", reason="client reads slowly", fields=["a", 1])
    assert sink.getvalue() == (
        "08:00:00.000 info    mail.synced                  account=acc_1 messages=3\n"
        '08:00:00.000 warning http.slow                    reason="client reads slowly" fields=["a", 1]\n'
    )


def test_what_is_below_the_level_is_not_written() -> None:
    sink = StringIO()
    log = json_log(sink, level="warning")
    log.debug("a")
    log.info("b")
    log.warning("c")
    log.error("d")
    assert [json.loads(line)["event"] for line in sink.getvalue().splitlines()] == ["c", "d"]


def test_bound_fields_are_in_every_record_and_the_record_has_the_last_word(log: RecordedLog) -> None:
    bound = log.bind(task="http").bind(request_id="r1", task="mail")
    bound.info("one")
    bound.info("two", request_id="r2")
    log.info("three")
    fields = [(record.get("task"), record.get("request_id")) for record in log.records]
    assert fields == [("mail", "r1"), ("mail", "r2"), (None, None)]


def test_a_field_cannot_pose_as_the_records_own(log: RecordedLog) -> None:
    log.info("real", at="never", level="error")
    assert log.records[0]["at_"] == "never"
    assert log.records[0]["level"] == "info"


def test_an_error_is_written_with_its_whole_traceback_and_causes(log: RecordedLog) -> None:
    error = fault("outer")
    error.__cause__ = fault("inner")
    log.error("request failed", ExceptionGroup("several", [error, fault("beside")]), request_id="r1")
    record = log.records[0]
    for part in ("RuntimeError: outer", "RuntimeError: inner", "RuntimeError: beside", "in fault"):
        assert part in str(record["traceback"])
    assert record["error"] == "ExceptionGroup: several (2 sub-exceptions)"


def test_a_readable_traceback_is_indented_line_by_line() -> None:
    sink = StringIO()
    readable_log(sink).error("request failed", fault("no\n08:00:00.000 info    forged"))
    first, *rest = sink.getvalue().splitlines()
    assert first.startswith("08:00:00.000 error   request failed")
    assert all(line.startswith("    | ") for line in rest)
    assert rest[-2:] == ["    | RuntimeError: no", "    | 08:00:00.000 info    forged"]


def test_colour_is_for_readable_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal, plain, machine = Terminal(), StringIO(), Terminal()
    readable_log(terminal).warning("a")
    readable_log(plain).warning("a")
    json_log(machine).warning("a")
    assert "\x1b[33mwarning\x1b[0m" in terminal.getvalue()
    assert "\x1b" not in plain.getvalue() + machine.getvalue()


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal()
    readable_log(terminal).warning("a")
    assert "\x1b" not in terminal.getvalue()


# Nothing a stranger sends can begin a line or steer a terminal


@given(text=st.text())
def test_whatever_the_text_a_record_is_one_line_of_plain_characters(text: str) -> None:
    for log_of in (json_log, readable_log):
        sink = StringIO()
        log_of(sink).info(text, **{"subject": text, text or "x": [text], "nested": {text: text}})
        line = sink.getvalue()
        assert line.count("\n") == 1
        assert line.splitlines() == [line[:-1]]
        assert not any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in line[:-1])


def test_text_that_reverses_or_hides_what_follows_is_escaped() -> None:
    sink = StringIO()
    readable_log(sink).info("file", filename="gpj.\u202eexe\u200b", subject="日本語")
    assert "filename=gpj.\\u202eexe\\u200b subject=日本語" in sink.getvalue()


# Bounds


def test_long_text_is_cut_and_says_so(log: RecordedLog) -> None:
    log.info("mail", subject="x" * 1_000_000)
    subject = str(log.records[0]["subject"])
    assert len(subject) < TEXT_MAX_CHARS + 50
    assert subject.endswith("… (1000000 characters)")


def test_long_tracebacks_lists_and_depths_are_cut(log: RecordedLog) -> None:
    nested: list[object] = []
    nested.append(nested)
    log.error("mail", fault("x" * 1_000_000), many=list(range(1_000)), nested=nested, raw=b"\0" * 1_000)
    assert len(log.text) < 50_000
    assert len(log.records[0]["many"]) == 50  # type: ignore[arg-type]
    assert log.records[0]["raw"] == "<1000 bytes>"


def test_a_secret_that_a_cut_splits_is_not_half_shown(log: RecordedLog) -> None:
    for start in range(TEXT_MAX_CHARS - 60, TEXT_MAX_CHARS + 1):
        log.info("a", reason="-" * start + f"://user:{CANARY}@host eyJhbGciOiJS.{CANARY}.x token={CANARY}")
    log.error("a", fault(f"token={CANARY} " * 20_000))
    assert "cAnAr" not in log.text


# Secrets


SECRET_FIELDS = [
    *("token", "access_token", "refresh_token", "client_secret", "password", "Authorization", "Cookie", "set-cookie"),
    *("code", "ticket", "state", "code_verifier", "master_key", "api_key", "IDP_CLIENT_SECRET", "SVC_CLAIM_TOKEN"),
    *("svc_session", "invite", "nonce", "pair_code", "tokens"),
]


@pytest.mark.parametrize("name", SECRET_FIELDS)
def test_a_field_with_a_secrets_name_is_never_shown(name: str, log: RecordedLog) -> None:
    log.bind(**{name: CANARY}).info("a", **{name: [CANARY]}, deep={"deeper": {name: CANARY}}, number=1)
    assert CANARY not in log.text
    assert log.records[0]["deep"] == {"deeper": {name: REDACTED}}
    log.info("number", **{name: 123456})
    assert "123456" not in log.text


@pytest.mark.parametrize("name", ["keyboard", "status", "encoded", "monkey", "phase", "stately", "author", "reason"])
def test_an_ordinary_name_is_not_taken_for_a_secrets(name: str, log: RecordedLog) -> None:
    log.info("a", **{name: "shown"})
    assert log.records[0][name] == "shown"


SECRET_TEXTS: list[str] = [
    "GET /ws?ticket={} HTTP/1.1",
    "/oauth/mail/callback?state={}&code=4/0Ab",
    "/oauth/mail/callback?state=abc&code={}&scope=email",
    "grant_type=authorization_code&code={}&client_id=x",
    "grant_type=refresh_token&refresh_token={}",
    '{{"access_token": "{}", "expires_in": 3599}}',
    '{{"refresh_token":"{}"}}',
    "{{'client_secret': '{}'}}",
    "{{b'client_secret': b'{}'}}",
    'token="{}"',
    "token='a\\'{}'",
    "password: {}",
    "Authorization: Bearer {}",
    "authorization: Basic {}",
    "(b'authorization', b'Bearer {}')",
    "Bearer {}",
    "Cookie: a=b; svc_session={}; c=d",
    "Cookie: a=b; other={}",
    "Set-Cookie: svc_session={}; HttpOnly",
    "svc_session={}",
    "device sdt_{} paired",
    "ya29.{}",
    "1//0{}",
    "GOCSPX-{}",
    "ghp_{}",
    "eyJhbGciOiJSUzI1NiJ9.{}.c2ln",
    "https://user:{}@example.org/repo.git",
    "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----",
    "refresh(refresh_token={})",
    "IDP_CLIENT_SECRET={}",
    "SVC_CLAIM_TOKEN: {}",
    "master_key={}",
    "/auth/idp/start?invite={}",
]


@pytest.mark.parametrize("template", SECRET_TEXTS)
def test_what_looks_like_a_secret_is_cut_out_wherever_it_stands(template: str, log: RecordedLog) -> None:
    text = template.format(CANARY)
    log.info(text, reason=text, things=[text], deep={"a": text}, error=fault(text))
    log.error("failed", fault(text))
    log.error("failed", ExceptionGroup(text, [fault(text)]))
    readable = StringIO()
    readable_log(readable).error("failed", fault(text), reason=text)
    assert CANARY not in log.text + readable.getvalue()
    assert REDACTED in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "the token expired; connect the account again",
        "code: invalid",
        "exit code 1",
        "state is waiting",
        "a ticket was refused",
        "https://example.org:8080/path@2x.png",
        "secretary and cookies",
        "a basic question about bearers",
        "Traceback (most recent call last):",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact(text) == text


def test_redacting_twice_changes_nothing() -> None:
    for template in SECRET_TEXTS:
        once = redact(template.format(CANARY))
        assert redact(once) == once


@pytest.mark.parametrize(
    "unit",
    [
        *("a", "token", "token=", 'token="', "token='\\", "token   ", "://a", "://a:", "eyJ", "eyJ.", "-----BEGIN "),
        *(
            "-----BEGIN PRIVATE KEY-----",
            "Bearer ",
            "Cookie: ",
            "sdt_",
            "1//",
            "code=",
            "passw",
            '"',
            "\\",
            "b'",
            "cookie:",
        ),
    ],
)
def test_redacting_takes_linear_time_on_hostile_text(unit: str) -> None:
    text = unit * (400_000 // len(unit))
    began = time.thread_time()  # of the processor: what else the machine does is no matter
    redact(text)
    assert time.thread_time() - began < 3


# Never a reason to fail


def closed() -> StringIO:
    sink = StringIO()
    sink.close()
    return sink


class BrokenPipe(StringIO):
    def write(self, text: str, /) -> int:
        raise BrokenPipeError


@pytest.mark.parametrize("sink_of", [closed, BrokenPipe])
def test_a_reader_that_went_away_harms_nobody(sink_of: Callable[[], StringIO]) -> None:
    for log in (json_log(sink_of()), readable_log(sink_of())):
        log.error("still here", fault("x"))


def test_a_terminal_that_knows_only_ascii_gets_escapes() -> None:
    raw = BytesIO()
    sink = TextIOWrapper(raw, encoding="ascii")
    Log(sink, readable=True, clock=StoppedClock()).info("mail", subject="Grüße")
    assert b"subject=Gr\\xfc\\xdfe\n" in raw.getvalue()


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text for you")


def test_a_value_without_text_does_not_stop_the_record(log: RecordedLog) -> None:
    class Silent(Exception):
        __str__ = Unprintable.__str__

    log.error("odd", Silent(), thing=Unprintable(), number=float("nan"), text="\ud800")
    record = log.records[0]
    assert record["thing"] == "<Unprintable, unprintable: RuntimeError>"
    assert record["number"] == "nan"
    assert "Silent" in str(record["traceback"])


class Writes(StringIO):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def write(self, text: str, /) -> int:
        self.count += 1
        return super().write(text)


def test_a_record_is_one_write() -> None:
    for log_of in (json_log, readable_log):
        sink = Writes()
        log_of(sink).error("failed", fault("x"), a=1)
        assert sink.count == 1
