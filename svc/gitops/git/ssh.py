"""How git reaches a remote by ssh: with a key of our own, or as the user who runs the service does.

Either way, a host is accepted only if its key is known: nobody could answer a question. With a key of our own nothing
else is tried or read: no agent, no other key, no configuration of the user or the machine.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

_ALWAYS = ("BatchMode=yes", "ConnectTimeout=20", "ServerAliveInterval=30", "StrictHostKeyChecking=yes")
_OF_OUR_OWN = ("IdentitiesOnly=yes", "IdentityAgent=none", "ForwardAgent=no", "PreferredAuthentications=publickey")


@dataclass(frozen=True, kw_only=True)
class Ssh:
    """``key``: a file with a private key without a passphrase. ``known_hosts``: the file with the hosts' keys;
    ``None``: ssh's own files."""

    key: Path | None = None
    known_hosts: Path | None = None

    @property
    def command(self) -> str:
        """For ``GIT_SSH_COMMAND``, which a shell parses."""
        words = ["ssh"]
        options = list(_ALWAYS)
        if self.key is not None:
            words += ["-F", "none", "-i", str(self.key)]
            options += _OF_OUR_OWN
        if self.known_hosts is not None:
            options += [f'UserKnownHostsFile="{self.known_hosts}"', "GlobalKnownHostsFile=none"]
        return shlex.join([*words, *(part for option in options for part in ("-o", option))])
