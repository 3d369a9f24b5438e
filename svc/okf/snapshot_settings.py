"""The settings of snapshots: the repository, and the program."""

from __future__ import annotations

from typing import Final

from svc.config import BadValue, Setting, text, without_password


def _repository(value: str) -> str:
    if value.startswith("-") or not value.isprintable():
        raise BadValue(f"{without_password(value)!r} is no repository; give one as restic takes it, such as /path")
    return value


SNAPSHOT_REPOSITORY: Final[Setting[str | None]] = Setting(
    name="SNAPSHOT_REPOSITORY",
    parse=_repository,
    default=None,
    type="repository",
    secret=True,  # an address of rest: or of s3: may hold a credential
    help="Where snapshots of `okf/` go each night, as restic names it (`/path`, `sftp:`, `s3:`, `rest:`). The password "
    "is restic's own: `RESTIC_PASSWORD_FILE`.",
)
SNAPSHOT_BIN: Final[Setting[str]] = Setting(
    name="SVC_SNAPSHOT_BIN", parse=text, default="restic", type="program", help="The program that makes snapshots."
)

SETTINGS: Final = (SNAPSHOT_REPOSITORY, SNAPSHOT_BIN)
