"""npm itself against a registry: what a set becomes, and what hostile packages can't do. On real time."""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import tarfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import trio

from svc.nursery import ThreadPool
from svc.plugins import npm as npm_module
from svc.plugins.installing import NotInstalled, read_lock
from svc.plugins.reading import read_plugin
from svc.plugins.specs import listed
from tests.peers.needs import NPM, needs
from tests.plugins.plugin_service import installer
from tests.plugins.registry import Package, Registry, example, serving, studio
from tests.support.waiting import until

pytestmark = [
    pytest.mark.wall_clock,
    needs(NPM),
    pytest.mark.thorough,
    pytest.mark.usefixtures("npm_says_its_version_at_once"),
]


@pytest.fixture
def registry() -> Iterator[Registry]:
    with serving() as one:
        yield one


async def refused(home: Path, registry: Registry, threads: ThreadPool, wanted: str, **environ: str) -> str:
    """Why it is not installed; and nothing of it is left."""
    with pytest.raises(NotInstalled) as caught:
        await installer(home, registry.url, threads, **environ).install(listed(wanted), lock=None)
    assert [path.name for path in (home / "plugins").iterdir()] == []
    return str(caught.value)


async def test_the_example_is_installed_as_the_registry_has_it(
    tmp_path: Path, registry: Registry, threads: ThreadPool
) -> None:
    registry.publish(example())
    held = await installer(tmp_path, registry.url, threads).install(listed("svc-plugin-tern-and-tide@^1"), lock=None)
    plugin = read_plugin(held.path, "svc-plugin-tern-and-tide")
    assert plugin.problem is None
    assert plugin.version == "1.0.0"
    assert plugin.manifest is not None
    assert plugin.bodies["pages/handbook.md"].startswith("We answer mail within a day")
    assert [right.words for right in plugin.rights] == [
        "Reach https://mcp.tides.example/mcp, as the MCP server tides",
        "Be given the credential mcp.tides, for the MCP server tides",
    ]
    assert sorted(path.name for path in (tmp_path / "plugins").iterdir()) == ["current", held.path.name]


async def test_what_was_chosen_within_a_range_stays_chosen_until_somebody_asks_anew(
    tmp_path: Path, registry: Registry, threads: ThreadPool
) -> None:
    registry.publish(studio("1.0.0"))
    ours = installer(tmp_path, registry.url, threads)
    held = await ours.install(listed("svc-plugin-studio@^1"), lock=None)
    registry.publish(studio("1.1.0"), Package(name="other", svc={"title": "Other"}))
    both = listed("svc-plugin-studio@^1 other@1")
    held = await ours.install(both, lock=read_lock(held.path))
    assert read_plugin(held.path, "svc-plugin-studio").version == "1.0.0"
    held = await ours.install(both, lock=None)
    assert read_plugin(held.path, "svc-plugin-studio").version == "1.1.0"
    held = await ours.install(listed("svc-plugin-studio@1.0.0"), lock=read_lock(held.path))
    assert read_plugin(held.path, "svc-plugin-studio").version == "1.0.0"
    assert not (held.path / "node_modules" / "other").exists()


async def test_no_script_of_a_package_is_run(tmp_path: Path, registry: Registry, threads: ThreadPool) -> None:
    ran = tmp_path / "ran"
    scripts = dict.fromkeys(("preinstall", "install", "postinstall", "prepare", "prepublish"), f"touch {ran}")
    evil = Package(name="evil", svc={"title": "Evil"}, more={"scripts": scripts, "gypfile": True})
    evil.files = {"binding.gyp": "{}", ".npmrc": "ignore-scripts=false\ngit=/tmp/evil\nregistry=http://evil.example"}
    registry.publish(evil)
    held = await installer(tmp_path, registry.url, threads).install(listed("evil"), lock=None)
    assert read_plugin(held.path, "evil").problem is None
    assert not ran.exists()


@pytest.mark.share(2)
@pytest.mark.parametrize("name", ["git", "node"])
async def test_a_package_named_like_a_program_takes_no_programs_place(
    tmp_path: Path, registry: Registry, threads: ThreadPool, name: str
) -> None:
    evil = Package(name=name, svc={"title": "Evil"}, more={"bin": {name: "run.sh", "git": "run.sh"}})
    evil.files = {"run.sh": f"#!/bin/sh\ntouch {tmp_path}/ran\n"}
    registry.publish(evil)
    held = await installer(tmp_path, registry.url, threads).install(listed(name), lock=None)
    assert not (held.path / "node_modules" / ".bin").exists()
    assert not (tmp_path / "ran").exists()


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("dependency", "words"),
    [
        ("git+file:///tmp/evil.git", "git"),
        ("git+https://127.0.0.1:9/evil.git", "git"),
        ("github:evil/evil", "git"),
        ("http://127.0.0.1:9/evil.tgz", "remote"),
        ("file:../../../../etc", ""),
    ],
)
async def test_what_does_not_come_from_the_registry_is_not_fetched(
    tmp_path: Path, registry: Registry, threads: ThreadPool, dependency: str, words: str
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    fake_git = programs / "git"
    fake_git.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
    fake_git.chmod(0o755)
    registry.publish(Package(name="evil", svc={"title": "Evil"}, more={"dependencies": {"dep": dependency}}))
    path = f"{programs}:{os.environ['PATH']}"
    assert words in await refused(tmp_path, registry, threads, "evil", PATH=path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("integrity", "words"),
    [
        ("sha512-" + "A" * 86 + "==", "EINTEGRITY|integrity"),
        ("sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=", "no SHA-512"),
        ("", "SHA-512"),
    ],
)
async def test_bytes_that_are_not_those_the_registry_vouches_for_are_refused(
    tmp_path: Path, registry: Registry, threads: ThreadPool, integrity: str, words: str
) -> None:
    evil = studio()
    evil.integrity = integrity
    registry.publish(evil)
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(await refused(tmp_path, registry, threads, "svc-plugin-studio"))


def entry(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, target, 0o777
    return info


async def test_a_tarball_reaches_nothing_outside_of_its_folder(
    tmp_path: Path, registry: Registry, threads: ThreadPool
) -> None:
    evil = studio()
    evil.entries = (
        entry("package/link", tarfile.SYMTYPE, "/etc/passwd"),
        entry("package/pages/up", tarfile.SYMTYPE, "../../../.."),
        entry("package/hard", tarfile.LNKTYPE, "package/package.json"),
        entry("package/../../../../escaped", tarfile.REGTYPE),
        entry("/escaped", tarfile.REGTYPE),
        entry("package/pipe", tarfile.FIFOTYPE),
        entry("package/device", tarfile.CHRTYPE),
    )
    registry.publish(evil)
    before = beside(tmp_path)
    with suppress(NotInstalled):
        await installer(tmp_path, registry.url, threads).install(listed("svc-plugin-studio"), lock=None)
    assert beside(tmp_path) - before == {"plugins"}
    kinds = {stat.S_IFMT(path.lstat().st_mode) for path in (tmp_path / "plugins").rglob("*")}
    assert kinds <= {stat.S_IFREG, stat.S_IFDIR}
    inside = set((tmp_path / "plugins").glob("set-*/node_modules/svc-plugin-studio/**/escaped"))
    assert set((tmp_path / "plugins").rglob("escaped")) == inside


async def test_a_tarball_that_swells_ends_npm(
    tmp_path: Path, registry: Registry, threads: ThreadPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(npm_module, "MAX_FILE_BYTES", 1024 * 1024)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, data in {
            "package/package.json": json.dumps(studio().manifest()).encode(),
            "package/pages/welcome.md": bytes(32 * 1024 * 1024),
        }.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    bomb = studio()
    bomb.tarball = gzip.compress(packed.getvalue())
    assert len(bomb.tarball) < 100_000
    registry.publish(bomb)
    assert await refused(tmp_path, registry, threads, "svc-plugin-studio")


async def test_a_set_that_grows_too_large_ends_npm(
    tmp_path: Path, registry: Registry, threads: ThreadPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(npm_module, "MAX_WRITTEN_BYTES", 1)
    registry.publish(studio())
    registry.hangs = threading.Event()
    assert "it wrote more than 1 bytes" in await refused(tmp_path, registry, threads, "svc-plugin-studio")


async def test_a_registry_that_hangs_ends_with_the_deadline_and_no_process_is_left(
    tmp_path: Path, registry: Registry, threads: ThreadPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.publish(studio())
    registry.hangs = threading.Event()
    monkeypatch.setattr(npm_module, "DEADLINE_S", 1.0)
    assert "it took longer than 1 seconds" in await refused(tmp_path, registry, threads, "svc-plugin-studio")


async def test_whoever_is_cancelled_leaves_nothing(tmp_path: Path, registry: Registry, threads: ThreadPool) -> None:
    registry.publish(studio())
    registry.hangs = threading.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(
            lambda: installer(tmp_path, registry.url, threads).install(listed("svc-plugin-studio"), lock=None)
        )
        await until(lambda: bool(registry.asked), what="npm to ask")
        nursery.cancel_scope.cancel()
    assert list((tmp_path / "plugins").iterdir()) == []


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 10.9.0", "npm is 10.9.0, older than 11.15"),
        ("echo 11.14.9", "older than 11.15"),
        ("echo what", "npm is what"),
        ("exit 3", "npm ended with 3"),
        ("kill -9 $$", "npm ended with -9"),
    ],
)
async def test_an_npm_that_is_too_old_or_broken_is_told(
    tmp_path: Path, registry: Registry, threads: ThreadPool, script: str, words: str
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "npm").write_text(f"#!/bin/sh\n{script}\n")
    (programs / "npm").chmod(0o755)
    assert words in await refused(tmp_path, registry, threads, "a", PATH=f"{programs}:/usr/bin:/bin")


async def test_without_npm_it_says_what_to_install(tmp_path: Path, registry: Registry, threads: ThreadPool) -> None:
    words = await refused(tmp_path, registry, threads, "a", PATH=str(tmp_path))
    assert words.startswith("npm is not installed; install Node.js with npm 11.15 or newer")


async def test_npm_is_told_nothing_of_this_environment(tmp_path: Path, registry: Registry, threads: ThreadPool) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "npm").write_text(f"#!/bin/sh\nenv > {tmp_path}/seen\ntest $1 = --version && echo 11.15.0\nexit 0\n")
    (programs / "npm").chmod(0o755)
    told = {"npm_config_registry": "http://evil.example", "NODE_OPTIONS": "--require=evil", "STT_API_KEY": "canary"}
    words = await refused(tmp_path, registry, threads, "a", PATH=f"{programs}:/usr/bin:/bin", **told)
    assert words == "npm wrote no lock file, or too long a one"
    seen = dict(line.partition("=")[::2] for line in (tmp_path / "seen").read_text().splitlines())
    assert seen["HOME"].startswith(str(tmp_path / "plugins"))
    assert seen["NODE_OPTIONS"] == "--max-old-space-size=512"
    assert not {"npm_config_registry", "STT_API_KEY"} & seen.keys()


@pytest.mark.parametrize("name", ["nobody-has-this", "@team/nobody"])
async def test_a_package_that_is_not_there_is_named(
    tmp_path: Path, registry: Registry, threads: ThreadPool, name: str
) -> None:
    assert name in await refused(tmp_path, registry, threads, f"{name}@^1")


async def test_what_npm_leaves_running_is_ended_with_it(
    tmp_path: Path, registry: Registry, threads: ThreadPool
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "npm").write_text("#!/bin/sh\nsleep 1000 &\necho $! > ../../left\necho 1.0.0\n")
    (programs / "npm").chmod(0o755)
    await refused(tmp_path, registry, threads, "a", PATH=f"{programs}:/usr/bin:/bin")
    left = int((tmp_path / "left").read_text())
    await until(lambda: not is_running(left), what="the program that npm left to be ended")


def beside(path: Path) -> set[str]:
    return set(os.listdir(path))


def is_running(pid: int) -> bool:
    """A zombie counts as ended: its new parent may not have waited for it yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
