"""The ``svc`` command: parses the command line. The commands are rows: ``commands.py`` has those of the whole program,
and each feature has its own.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from svc import __version__

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

    from svc.command import Argument, Command


SERVICE: Final = "SVC_SERVICE"
CONTROL_PLANE: Final = "key-escrow-control-plane"
"""The same names as in :mod:`svc.settings`, which would load too much here."""
_WORKER: Final = (["serve", "--role=worker"], ["serve", "--role", "worker"])
_VERSION: Final = "--version"
_OF_THE_PROGRAM: Final = ("-h", "--help", _VERSION)
EXIT_PIPE_CLOSED: Final = 141
"""The code with which a shell reports a program that SIGPIPE ended."""
EXIT_FAILURE: Final = 1
EXIT_INTERRUPTED: Final = 130
"""The same for SIGINT."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one ``svc`` command. Returns the exit code of the process."""
    arguments = _in_full(sys.argv[1:] if arguments is None else list(arguments))
    if arguments in _WORKER:
        from svc.worker import process  # imported late and alone: it loads no part of the trusted plane

        return process.main()
    if os.environ.get(SERVICE) == CONTROL_PLANE:
        from svc.control_plane import process as control_plane  # it opens no home, and loads no feature

        return control_plane.main(arguments)
    try:
        given = _parsed(arguments)
        return _flushed(given if isinstance(given, int) else _run(given))
    except BrokenPipeError:  # the reader has closed the pipe, as `head` does
        _drop_output()
        return EXIT_PIPE_CLOSED
    except (KeyboardInterrupt, BaseExceptionGroup) as error:
        if not _is_interrupt(error):
            raise
        return EXIT_INTERRUPTED


# The commands are imported late: a process for strangers' input imports the main module, and must not load the service
# with it; and to say the version, nothing needs to be loaded.


def _run(given: dict[str, Any]) -> int:
    from svc import commands

    return commands.run(given.pop("command"), given)


def _parsed(arguments: Sequence[str]) -> dict[str, Any] | int:
    """The parsed arguments, or the exit code after help or an error."""
    if arguments == [_VERSION]:
        return _given(build_parser(()), arguments)
    from svc import commands

    return _given(build_parser(commands.all_commands()), arguments)


def _given(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> dict[str, Any] | int:
    try:
        return vars(parser.parse_args(arguments))
    except SystemExit as said:
        return int(said.code or 0)
    except BrokenPipeError:
        raise
    except OSError as error:
        return _unwritten(error)


def _flushed(code: int) -> int:
    """The exit code, after the rest of the output is written. A command that failed has said why."""
    if sys.stdout is None:  # closed before the start, as by `>&-`
        return code
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if code == 0:
            return _unwritten(error)
        _drop_output()
    return code


def _unwritten(error: OSError) -> int:
    """The output goes to a file on a full disk, for instance."""
    _drop_output()
    print(f"The output can't be written: {error.strerror}", file=sys.stderr)
    return EXIT_FAILURE


def _drop_output() -> None:
    """Python writes what is left once more when it ends, which would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_interrupt(error: BaseException) -> bool:
    """Whether it is Ctrl-C and nothing else; a nursery wraps it."""
    if isinstance(error, BaseExceptionGroup):
        return error.split(KeyboardInterrupt)[1] is None
    return isinstance(error, KeyboardInterrupt)


def _in_full(arguments: list[str]) -> list[str]:
    """Options without a command belong to ``svc serve``, except those of the whole program."""
    if arguments and arguments[0].startswith("-") and arguments[0] not in _OF_THE_PROGRAM:
        return ["serve", *arguments]
    return arguments


class _Parser(argparse.ArgumentParser):
    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """argparse's own passes over a failure to write, which is right for a complaint, but not for the help."""
        if file is not None and file is sys.stdout:
            file.write(message)
        else:
            super()._print_message(message, file)


def build_parser(commands: Iterable[Command]) -> argparse.ArgumentParser:
    """``svc`` without a command is ``svc serve``."""
    parser = _Parser(
        prog="svc",
        description="A self-hosted workspace server. Settings are environment variables: see `svc config`.",
    )
    parser.add_argument(_VERSION, action="version", version=f"svc {__version__}")
    parser.set_defaults(command="serve")
    words = parser.add_subparsers(title="commands", metavar="COMMAND")
    rows = tuple(commands)
    groups: dict[str, Any] = {}
    names = {row.name for row in rows}
    for row in rows:
        group, _, word = row.name.rpartition(" ")
        if group and group not in groups and group not in names:
            groups[group] = _group(words, group, rows)
        added = _add(groups.get(group, words), word, row)
        if any(name.startswith(f"{row.name} ") for name in names):  # a command itself, and the first word of others
            groups[row.name] = added.add_subparsers(title="commands", metavar="COMMAND")
    return parser


Words = argparse._SubParsersAction  # argparse gives its type no public name


def _group(words: Words[_Parser], name: str, rows: Sequence[Command]) -> Any:
    members = [row.name.removeprefix(f"{name} ") for row in rows if row.name.startswith(f"{name} ")]
    help_text = ", ".join(members)
    parser: argparse.ArgumentParser = words.add_parser(name, help=help_text, description=help_text)
    return parser.add_subparsers(title="commands", metavar="COMMAND", required=True)


def _add(words: Words[_Parser], word: str, row: Command) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = words.add_parser(word, help=row.summary, description=f"{row.summary}.")
    parser.set_defaults(command=row.name)
    for argument in row.arguments:
        parser.add_argument(argument.name, **_options(argument))
    return parser


def _options(argument: Argument) -> dict[str, Any]:
    """The arguments for ``argparse``."""
    options: dict[str, Any] = {"help": argument.help}
    is_option = argument.name.startswith("-")
    if is_option:
        options["required"] = argument.required
    if argument.is_flag:
        return {**options, "action": "store_true"}
    if argument.metavar is not None:
        options["metavar"] = argument.metavar
    return {**options, "type": _worded(argument.type), "default": argument.default, "choices": argument.choices}


def _worded(read: Callable[[str], object]) -> Callable[[str], object]:
    """Wraps a parser of ours, so that its message about a bad value reaches the user."""
    if isinstance(read, type):
        return read

    def reading(text: str) -> object:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return reading
