"""``svc gitops check DIR``, and what the checks of the service say."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc.cli import main
from svc.clock import VirtualClock
from svc.gitops.folder import problems_in
from tests.gitops.followed import following, looked
from tests.gitops.upstream import Upstream
from tests.recorded_log import RecordedLog


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_a_good_folder_has_no_problems(tmp_path: Path) -> None:
    folder = write(tmp_path, {"pages/a.md": "[b](b/c.md)", "pages/b/c.md": "---\ntitle: C\n---\nC", "README": "x"})
    assert problems_in(folder) == (2, [])


def test_each_problem_is_named_with_its_file_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(
        tmp_path / "folder",
        {
            "pages/good.md": "good",
            "pages/bad.md": "---\ntitle: x\naccess: all\n---\n",
            "pages/a.md": "1",
            "pages/a/index.md": "2",
            "plugins.json": "{",
        },
    )
    (folder / "pages" / "link.md").symlink_to("/etc/passwd")
    assert main(["gitops", "check", str(folder)]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "pages/a/index.md: it would be the same page as pages/a.md"
    assert printed[1].startswith("pages/bad.md:3: access is inherited or explicit")
    assert printed[2] == "pages/link.md: it is a symbolic link, which is not followed"
    assert printed[3].startswith("plugins.json: ")
    assert printed[-1] == "2 pages, 4 problems"


def test_a_folder_without_pages_is_told(tmp_path: Path) -> None:
    assert problems_in(tmp_path)[1][0].reason == "there is no such folder"


async def test_what_is_not_followed_is_told_by_the_checks(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push({"pages/a.md": "A"})
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:

        async def found() -> tuple[str, object]:
            checks = (await service.mutate("health.check"))["checks"]
            (one,) = [one for one in checks if one["name"] == "gitops"]
            return one["state"], (await service.get("/readyz")).json["checks"].get("gitops")

        assert await found() == ("ok", None)
        upstream.push({"pages/a.md": "---\n"})
        await looked(service)
        assert await found() == ("warning", "followed in part")
        upstream.directory.rename(tmp_path / "away.git")
        await looked(service)
        assert await found() == ("warning", "not followed")
