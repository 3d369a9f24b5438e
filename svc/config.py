"""Settings: each is declared once and read from the environment once. All faults are reported together.

Owns :class:`Setting`, :class:`Config` and the parsers. A feature declares its settings as constants and reads
``config[PORT]``, so that the type of a setting is checked where it is used. Values never change after boot; secret ones
are never shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlsplit

T = TypeVar("T")

PREFIX: Final = "SVC_"
REDACTED: Final = "********"
FILE_SUFFIX: Final = "_FILE"
EXIT_CONFIG: Final = 78
"""The exit code of a process whose environment has faults."""
SECRET_FILE_MAX_BYTES: Final = 64 * 1024
_USER_IN_URL: Final = re.compile(r"//[^/]*@")


class BadValue(ValueError):
    """A parser's refusal, in the form "what is wrong; what to do"."""


@dataclass(frozen=True, kw_only=True)
class Setting(Generic[T]):
    """One environment variable.

    ``default`` is a value, or a function of the other values for the few that depend on another setting;
    ``shown_default`` is what the documentation prints for it.
    """

    name: str
    parse: Callable[[str], T]
    default: T | Callable[[Mapping[str, str]], T]
    help: str
    type: str
    unit: str = ""
    shown_default: str = ""
    secret: bool = False
    stand_in: Callable[[Mapping[str, str]], str | None] = lambda environ: None
    """Another variable that is read where this one is unset."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that set it. A secret can also be in the file that ``<name>_FILE`` names."""
        return (self.name, f"{self.name}{FILE_SUFFIX}") if self.secret else (self.name,)


AnySetting = Setting[Any]  # a table holds settings of many types


@dataclass(frozen=True)
class ConfigFault:
    """One fault of the environment, for a person to read."""

    name: str
    problem: str
    remedy: str
    value: str = ""
    """The current value, redacted; empty if it is unset."""

    def __str__(self) -> str:
        shown = f" (it is set to {self.value!r})" if self.value and self.value not in self.problem else ""
        return f"{self.name}: {self.problem}{shown}; {self.remedy}"


class ConfigError(Exception):
    """The environment has faults. Carries all of them, in the order of the settings."""

    exit_code = EXIT_CONFIG

    def __init__(self, faults: list[ConfigFault], values: Mapping[str, object]) -> None:
        super().__init__("\n".join(map(str, faults)))
        self.faults = faults
        self.values = values  # of the settings that could be read


Rule = Callable[["Config"], Iterable[ConfigFault]]


class Config:
    """The values of one boot, and where each one came from."""

    def __init__(
        self, settings: tuple[AnySetting, ...], values: Mapping[str, object], environ: Mapping[str, str]
    ) -> None:
        self.settings = settings
        self.environ = environ
        self._values = dict(values)

    def __getitem__(self, setting: Setting[T]) -> T:
        return self._values[setting.name]  # type: ignore[return-value]  # stored under the setting's own parser

    def scrubbed(self, known: Iterable[AnySetting]) -> Config:
        """Only these settings without the secret ones, and nothing else of the environment."""
        kept = tuple(setting for setting in known if not setting.secret)
        values = {setting.name: self._values[setting.name] for setting in kept}
        names = {name for setting in kept if (name := _variable(setting, self.environ)) is not None}
        return Config(kept, values, {name: self.environ[name] for name in names})

    def source(self, setting: AnySetting) -> str:
        """``environment``, ``default``, or the name of the other variable that was read instead."""
        found = _variable(setting, self.environ)
        return "default" if found is None else "environment" if found == setting.name else found

    def unknown(self) -> Iterator[tuple[str, str | None]]:
        """Each variable that looks like a setting but is not one, with the most similar known name."""
        return unknown_names(self.settings, self.environ)

    def shown(self, setting: AnySetting) -> str:
        """The value as text, with a secret replaced; empty when unset."""
        value = self._values[setting.name]
        if value is None:
            return ""
        if setting.secret:
            return REDACTED
        if isinstance(value, bool):
            return str(int(value))  # as a user writes it
        return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def is_set(environ: Mapping[str, str], name: str) -> bool:
    """An empty variable counts as unset, as users of a shell expect."""
    return environ.get(name, "") != ""


def read_config(settings: Iterable[AnySetting], environ: Mapping[str, str], rules: Iterable[Rule] = ()) -> Config:
    """Read all settings. Raises :class:`ConfigError` with all faults."""
    rows = tuple(settings)
    values: dict[str, object] = {}
    faults: list[ConfigFault] = []
    for setting in rows:
        try:
            values[setting.name] = _value(setting, environ)
        except BadValue as error:
            problem, _, remedy = str(error).partition("; ")
            name = _variable(setting, environ) or setting.name
            faults.append(ConfigFault(name, problem, remedy or "set it right or unset it"))
    config = _SoFar(rows, values, environ)
    for rule in rules:
        with suppress(_NotRead):
            faults.extend(rule(config))
    if faults:
        raise ConfigError([_with_value(fault, rows, environ) for fault in faults], values)
    return Config(rows, values, environ)


def read_config_without_faults(settings: Iterable[AnySetting], environ: Mapping[str, str]) -> Config:
    """The rest of a faulty environment: a variable that can't be read counts as unset."""
    rows = tuple(settings)
    kept = dict(environ)
    while True:
        try:
            return read_config(rows, kept)
        except ConfigError as error:
            for fault in error.faults:
                del kept[fault.name]


def _with_value(fault: ConfigFault, rows: tuple[AnySetting, ...], environ: Mapping[str, str]) -> ConfigFault:
    """Add its value to the fault, except for a secret: its problem says enough."""
    secret = any(row.secret and fault.name in {row.name, row.stand_in(environ)} for row in rows)
    return fault if secret else replace(fault, value=without_password(environ.get(fault.name, "")))


def without_password(value: str) -> str:
    """The text without the password that a URL may contain by mistake."""
    return _USER_IN_URL.sub(f"//{REDACTED}@", value)


class _NotRead(Exception):
    """A rule asked for a setting that has a fault itself, so the rule is skipped this time."""


class _SoFar(Config):
    """The settings that could be read, for the rules: a fault in one setting must not hide those in others."""

    def __getitem__(self, setting: Setting[T]) -> T:
        if setting.name not in self._values:
            raise _NotRead
        return super().__getitem__(setting)


def _value(setting: AnySetting, environ: Mapping[str, str]) -> object:
    is_set_by = [name for name in setting.names if is_set(environ, name)]
    if len(is_set_by) > 1:
        raise BadValue(f"{' and '.join(is_set_by)} are both set; unset one of them")
    if (name := _variable(setting, environ)) is not None:
        in_file = name != setting.name and name in setting.names
        return _parsed(setting, _read_secret(environ[name]) if in_file else environ[name])
    if callable(setting.default):
        return setting.default(environ)
    return setting.default


def _parsed(setting: AnySetting, value: str) -> object:
    try:
        return setting.parse(value)
    except BadValue:
        raise
    except ValueError:  # its text may hold the value, which may be secret
        raise BadValue("its value is of a form that nothing can read; set it right or unset it") from None


def _read_secret(path: str) -> str:
    """The content of a secret's file, without the line end that editors add."""
    try:
        with open(path, "rb") as file:
            data = file.read(SECRET_FILE_MAX_BYTES + 1)
        content = data.decode()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise BadValue(f"the file {path} can't be read ({reason}); name a file that this user may read") from error
    secret = content.removesuffix("\n").removesuffix("\r")
    if not secret or len(data) > SECRET_FILE_MAX_BYTES:
        raise BadValue(f"the file {path} is empty or too large for a secret; put the secret in it, and nothing else")
    return secret


def _variable(setting: AnySetting, environ: Mapping[str, str]) -> str | None:
    """The variable that the setting's value comes from, if one is set."""
    names = (*setting.names, setting.stand_in(environ))
    return next((name for name in names if name is not None and is_set(environ, name)), None)


def unknown_names(settings: Iterable[AnySetting], environ: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
    """Each variable that looks like a setting but is not one, with the most similar known name."""
    known = [name for setting in settings for name in setting.names]
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in known:
            yield name, next(iter(get_close_matches(name, known, n=1)), None)


# Parsers. Each raises BadValue("<what is wrong>; <what to do>").


def text(value: str) -> str:
    return value


def whole_number(minimum: int, maximum: int) -> Callable[[str], int]:
    def parse(value: str) -> int:
        if not (value.isascii() and value.isdigit() and minimum <= int(value) <= maximum):
            raise BadValue(f"{value!r} is not a whole number from {minimum} to {maximum}; give one")
        return int(value)

    return parse


def one_of(*choices: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value not in choices:
            raise BadValue(f"{value!r} is not known; use {' or '.join(choices)}, or unset it")
        return value

    return parse


def on_off(value: str) -> bool:
    if value not in {"0", "1"}:
        raise BadValue(f"{value!r} is neither 0 nor 1; use 1 for on, 0 for off")
    return value == "1"


def directory(value: str) -> Path:
    path = Path(os.path.expanduser(value))
    if not path.is_absolute():
        raise BadValue(f"{value!r} is not an absolute path; give one that begins with / or ~")
    return path


def file_path(value: str) -> Path:
    return directory(value)


def http_url(value: str, *, form: str = "https://host[:port][/path]") -> str:
    """An absolute http(s) URL without user, query or fragment; a trailing slash is dropped. ``form``: how a refusal
    says that it is written."""
    try:
        parts = urlsplit(value)
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        valid = False
    if not valid or parts.username or parts.query or parts.fragment:
        raise BadValue(f"{without_password(value)!r} is not a plain http or https URL; write it as {form}")
    if parts.scheme == "http" and parts.hostname not in {"localhost", "127.0.0.1", "::1"}:
        raise BadValue(f"{value!r} would carry secrets unencrypted; use https, or http on this machine only")
    return value.rstrip("/")
