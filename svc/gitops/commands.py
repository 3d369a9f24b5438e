"""The ``svc`` subcommands of gitops."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from svc.command import JSON, OK, Argument, Command, Invocation

BAD: Final = 1


def check(call: Invocation) -> int:
    """Check a folder as a service would, before it is committed: one line per problem, in the form of compiler
    messages."""
    from svc.gitops.folder import problems_in  # imported late: no other command reads YAML

    folder = Path(call.given["folder"])
    pages, problems = problems_in(folder)
    rows = [
        {"place": f"{one.file}:{one.line}" if one.line is not None else one.file, "reason": one.reason}
        for one in problems
    ]
    if call.given["json"]:
        call.print_rows(rows, columns=("place", "reason"))
    else:
        for row in rows:
            print(f"{row['place']}: {row['reason']}")
        print(f"{pages} pages, {len(rows)} problems")
    return BAD if rows else OK


COMMANDS: Final = (
    Command(
        name="gitops check",
        summary="check the folder of pages and plugins.json that a service would follow",
        run=check,
        arguments=(Argument(name="folder", help="the folder that holds pages/"), JSON),
        bears_faults=True,
    ),
)
