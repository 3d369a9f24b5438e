"""The ``svc`` subcommands for credentials: list them, and make a new master key."""

from __future__ import annotations

import random
import sys
from typing import Final

import trio

from svc.capabilities import recovery
from svc.capabilities.escrow import EscrowKeys
from svc.capabilities.keys import escrow_keys
from svc.capabilities.rotation import renewed_keyring, rewrap_all
from svc.clock import rfc3339
from svc.command import JSON, OK, Argument, Command, Invocation
from svc.config import BadValue
from svc.settings import HOME, MASTER_KEY_FILE
from svc.store import CannotOpen, Home, KeyFile, KeyRefused, Ledger, Secrets, master_key_path

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
        if (kms_key := call.given["kms_key"]) is not None:
            if not isinstance(opened.keys, EscrowKeys):
                print("--kms-key is for a hosted cell, whose master key is wrapped", file=sys.stderr)
                return EXIT_FAILURE
            try:
                opened.keys.wrap_by(kms_key)
            except BadValue as fault:
                print(f"--kms-key: {fault}", file=sys.stderr)
                return EXIT_FAILURE
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


def escrow(call: Invocation) -> int:
    """Store the key of a home that was a local one in the escrow service. Only the home's id is read from the home."""
    config = call.config
    keys = escrow_keys(config, rng=random.Random())  # noqa: S311  spreads pauses, guards nothing
    if keys is None:
        print("SVC_PROFILE: only a hosted cell has an escrow service; set the cell's variables", file=sys.stderr)
        return EXIT_FAILURE
    try:
        home_id = Home.id_of(config[HOME])
        path = master_key_path(config[MASTER_KEY_FILE], home_id=home_id, environ=config.environ)
        keyring = KeyFile(path=path, home=config[HOME]).load(may_create=False)
        version = trio.run(keys.adopt, keyring)
    except (CannotOpen, KeyRefused) as fault:
        print(fault, file=sys.stderr)
        return EXIT_FAILURE
    print(f"The master key {path} is kept by the escrow service now, as version {version}; the file can go")
    return OK


def recovery_code(call: Invocation) -> int:
    with call.home(read_only=True) as opened:
        ledger = Ledger(Home.ledger_of(opened.home.path))
        code = recovery.new_code()
        sealed = recovery.seal(opened.secrets, code, home=opened.home.id, now=call.clock.now())
        ledger.put({recovery.SEALED: recovery.encode(sealed)})
    print(code)
    print(
        "Write it down and keep it away from this machine: with the archive it brings everything back, passwords of "
        "accounts included. It is shown this once. An earlier code opens nothing any more.",
        file=sys.stderr,
    )
    return OK


COMMANDS: Final = (
    Command(
        name="secrets recovery-code",
        summary="make a new recovery code, which opens the copy of the master key in the archive",
        run=recovery_code,
    ),
    Command(
        name="secrets list",
        summary="list the stored credentials, without their values",
        arguments=(JSON,),
        run=list_secrets,
    ),
    Command(
        name="secrets rotate",
        summary="make a new master key and encrypt every secret with it (the server must be stopped)",
        arguments=(
            Argument(
                name="--forget-old",
                is_flag=True,
                help="also delete the older keys: then nobody can read the secrets in older copies of the database",
            ),
            Argument(
                name="--kms-key",
                metavar="ARN",
                help="for a hosted cell: wrap the new master key with this key; set SVC_KMS_KEY_ID to it afterwards",
            ),
        ),
        run=rotate,
    ),
    Command(
        name="secrets escrow",
        summary="move the master key file of a local home to the escrow service of its cell",
        run=escrow,
    ),
)
