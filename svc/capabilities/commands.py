"""The words of the ``svc`` command on credentials: which there are, and a new master key for them."""

from __future__ import annotations

import sys
from typing import Final

from svc.capabilities.rotation import renewed_keyring, rewrap_all
from svc.clock import rfc3339
from svc.command import JSON, OK, Argument, Command, Invocation
from svc.store import Secrets

EXIT_FAILURE: Final = 1


def list_secrets(call: Invocation) -> int:
    with call.home(read_only=True) as opened:
        rows = [
            {
                "name": row.name,
                "source": row.source,
                "version": str(row.version),
                "updated": rfc3339(row.updated_at),
            }
            for row in opened.store.read_now(opened.secrets.rows)
        ]
    call.print_rows(rows, columns=("name", "source", "version", "updated"))
    return OK


def rotate(call: Invocation) -> int:
    with call.home() as opened:
        keyring = renewed_keyring(opened)
        secrets = Secrets(keyring)
        rewrap_all(opened.store, secrets)
        left = opened.store.read_now(secrets.outdated)
        if left:
            print(f"{left} secrets can't be decrypted by any key there is; see svc fsck", file=sys.stderr)
            return EXIT_FAILURE
        if call.given["forget_old"]:
            opened.keys.replace(keyring.current_only())
        print(f"{len(opened.store.read_now(secrets.rows))} secrets are under the new master key")
    return OK


COMMANDS: Final = (
    Command(
        name="secrets list",
        summary="the credentials that are kept, without their values",
        arguments=(JSON,),
        run=list_secrets,
    ),
    Command(
        name="secrets rotate",
        summary="make a new master key and put every secret under it (the server must be stopped)",
        arguments=(
            Argument(
                name="--forget-old",
                is_flag=True,
                help="also drop the older keys: then no older copy of the database can be read any more",
            ),
        ),
        run=rotate,
    ),
)
