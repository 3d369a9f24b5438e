"""What a shell gets of the service's environment: nothing that may be a secret."""

from __future__ import annotations

from pathlib import Path

from svc.app import all_settings
from svc.terminals.environment import environment_of

SHELL = Path("/bin/bash")


def test_what_every_shell_of_the_user_has_is_passed_on() -> None:
    environ = {"PATH": "/bin", "HOME": "/home/mia", "LANG": "de_DE.UTF-8", "LC_TIME": "C", "SSH_AUTH_SOCK": "/run/a"}
    assert environment_of(environ, shell=SHELL).items() >= environ.items()


def test_no_setting_of_the_service_and_nothing_that_nobody_knows_is() -> None:
    names = [name for setting in all_settings() for name in setting.names]
    unknown = ["AWS_SECRET_ACCESS_KEY", "PYTHONPATH", "RESTIC_PASSWORD", "GIT_ASKPASS"]
    passed = environment_of(dict.fromkeys([*names, *unknown], "canary"), shell=SHELL)
    assert "canary" not in passed.values()
    assert passed.keys() == {"SHELL", "TERM", "COLORTERM", "TERM_PROGRAM", "LANG"}


def test_it_speaks_utf8_unless_the_user_says_otherwise() -> None:
    assert environment_of({}, shell=SHELL)["LANG"] == "C.UTF-8"
    assert "LANG" not in environment_of({"LC_ALL": "POSIX"}, shell=SHELL)
