"""The commands of ``svc`` that people add."""

from __future__ import annotations

from svc.command import JSON, OK, Argument, Command, Invocation
from svc.people.tidying import strangers, tidy
from svc.principal import system


def tidy_up(call: Invocation) -> int:
    everybody = system("people-tidy")
    with call.home(read_only=not call.given["yes"]) as opened:
        found = opened.store.read_now(strangers, everybody)
        if call.given["yes"]:
            opened.store.write_now(tidy, everybody)
    rows = [{"path": one.page.path, "address": one.person.address, "name": one.person.name} for one in found]
    call.print_rows(rows, columns=("path", "address", "name"))
    if not call.given["json"]:
        told = "taken away" if call.given["yes"] else "to take away; nothing was changed"
        print(f"{len(found)} {told}")
    return OK


COMMANDS = (
    Command(
        name="people tidy",
        summary="list the untouched pages of people you never wrote to; with --yes, take them away and suggest those "
        "people (then the server must be stopped)",
        run=tidy_up,
        arguments=(
            Argument(name="--yes", is_flag=True, help="make the change; without it, the pages are only listed"),
            JSON,
        ),
    ),
)
