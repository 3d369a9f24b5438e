"""What an MCP server's program may read and write, and the command that starts it with these limits.

It may read the programs and libraries of the system, its own folder, and the files and folders that its arguments give
as full paths; it may write into folders that its arguments name. The server's page can add more. The home of svc is
never included, and so neither are the packages of plugins, which lie in it. Without Landlock in the system, these
limits do not hold, and the app says so; resource limits and the loss of rights hold everywhere.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SYSTEM: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix", "/snap", "/proc", "/sys", "/System", "/Library"),
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/fd", "/run/systemd/resolve"),
    *("/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/crypto-policies", "/etc/alternatives", "/etc/localtime"),
    *("/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services"),
    *("/etc/protocols", "/etc/passwd", "/etc/group", "/etc/os-release", "/etc/mime.types", "/etc/ld.so.cache"),
    *("/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/timezone", "/etc/npmrc", "/etc/java", "/etc/dotnet"),
)
DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full")
LAUNCHER: Final = Path(__file__).with_name("launcher.py")
_FOLDERS_OF_PROGRAMS: Final = frozenset({"bin", "sbin", "Scripts"})
_BESIDE_PROGRAMS: Final = ("lib", "lib64", "libexec", "pyvenv.cfg")
_MODULES: Final = "node_modules"
_PROJECT: Final = "package.json"


@dataclass(frozen=True, kw_only=True)
class Sandbox:
    """``program``: its path; ``None`` if there is no program of that name."""

    program: Path | None
    read: tuple[str, ...]
    write: tuple[str, ...]


def sandbox_of(
    command: Sequence[str], environ: Mapping[str, str], *, read: Iterable[str], write: Iterable[str], never: Path
) -> Sandbox:
    found = shutil.which(command[0], path=environ.get("PATH", os.defpath))
    own = list(_homes_of(Path(found))) if found is not None else []
    named = [Path(word) for word in command[1:] if word.startswith("/")]
    readable = [place for path in named for place in (_of_file(path) if path.is_file() else (path,))]
    writable = [*(path for path in named if path.is_dir()), *map(Path, write)]
    return Sandbox(
        program=None if found is None else Path(found),
        read=_kept([*map(Path, SYSTEM), *own, *readable, *map(Path, read)], never),
        write=_kept([*map(Path, DEVICES), *writable], never),
    )


def confined(sandbox: Sandbox, command: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """The command that starts the program in its sandbox. It holds no value of the environment: other users can read a
    command line."""
    asked = {"read": sandbox.read, "write": sandbox.write, "keep": sorted(environ)}
    return [sys.executable, "-I", "-S", str(LAUNCHER), json.dumps(asked), str(sandbox.program), *command]


def _homes_of(program: Path) -> Iterator[Path]:
    """The program's folder and what belongs to it: the libraries beside a folder of programs, the modules of a package.
    The same for each target of its symbolic links."""
    for place in dict.fromkeys((program, *_behind(program))):
        if place.parent.name in _FOLDERS_OF_PROGRAMS:
            yield place.parent
            yield from (place.parent.parent / name for name in _BESIDE_PROGRAMS)
        else:
            yield place if place.parent == place.parent.parent else place.parent
        yield from _modules_around(place)


def _of_file(path: Path) -> Iterator[Path]:
    """The file's folder, and what a script needs around it: its project's description, and its modules."""
    yield path.parent
    yield from _modules_around(path)
    for folder in path.parents:
        if (folder / _PROJECT).is_file():
            yield from (folder / name for name in (_PROJECT, _MODULES))
            break


def _modules_around(path: Path) -> Iterator[Path]:
    if _MODULES in path.parts:
        yield Path(*path.parts[: path.parts.index(_MODULES) + 1])


def _behind(program: Path) -> Iterator[Path]:
    """Each target of a chain of symbolic links, in order."""
    for _ in range(40):  # the system's own limit
        if not program.is_symlink():
            break
        program = Path(os.path.normpath(program.parent / program.readlink()))
        yield program
    yield program.resolve()


def _kept(paths: Iterable[Path], never: Path) -> tuple[str, ...]:
    """The paths without those inside the home of svc, those that contain it, and the root folder."""
    found = dict.fromkeys(Path(os.path.normpath(path)) for path in paths)
    real = {path: path.resolve() for path in found}
    return tuple(
        str(path)
        for path in found
        if real[path].parent != real[path]
        and not real[path].is_relative_to(never.resolve())
        and not never.resolve().is_relative_to(real[path])
    )
