"""What the settings take, and where a forge shows a file."""

from __future__ import annotations

import pytest

from svc.config import BadValue
from svc.gitops.forge import forge_of
from svc.gitops.settings import BRANCH, PATH, REPO


@pytest.mark.parametrize(
    "address",
    [
        "https://git.example.org/team/repo.git",
        "https://git.example.org:8443/team/repo",
        "http://127.0.0.1:3000/team/repo",
        "ssh://git@git.example.org:2222/team/repo.git",
        "git@git.example.org:team/repo.git",
        "file:///srv/repo.git",
        "/srv/repo.git",
    ],
)
def test_a_repository_is_named_as_git_names_it(address: str) -> None:
    assert REPO.parse(address) == address


@pytest.mark.parametrize(
    "address",
    [
        "https://mia:secret-word@git.example.org/team/repo",
        "https://token@git.example.org/team/repo",
        "ssh://git:secret-word@git.example.org/repo",
        "http://git.example.org/team/repo",
        "ext::sh -c touch",
        "--upload-pack=touch",
        "-oProxyCommand=touch",
        "ssh://-oProxyCommand=touch/repo",
        "relative/path",
        "file://host/path",
        "git://git.example.org/repo",
        "https://git.example.org/repo?token=1",
        "https:///repo",
        "https://git.example.org:port/repo",
        "/srv/re\npo",
    ],
)
def test_what_is_no_address_is_refused_without_its_secret(address: str) -> None:
    with pytest.raises(BadValue) as caught:
        REPO.parse(address)
    assert "secret-word" not in str(caught.value)
    assert "; " in str(caught.value)


@pytest.mark.parametrize("name", ["main", "feature/tides", "v1.2", "release-3", "refs/heads/main"])
def test_a_branch_is_named_as_git_names_it(name: str) -> None:
    assert BRANCH.parse(name) == name.removeprefix("refs/heads/")


@pytest.mark.parametrize(
    "name", ["-x", "a..b", "a b", "a~1", "a:b", "a?", "a*", "a[", "a\\b", "a.lock", "a/", "/a", "a//b", "@{-1}", "."]
)
def test_what_git_takes_for_no_branch_is_refused(name: str) -> None:
    with pytest.raises(BadValue):
        BRANCH.parse(name)


def test_a_folder_stays_inside_of_the_repository() -> None:
    assert PATH.parse("/team//workspace/./") == "team/workspace"
    for wrong in ("../x", "a/../b", ".git/hooks", "a\nb"):
        with pytest.raises(BadValue):
            PATH.parse(wrong)


@pytest.mark.parametrize(
    ("repository", "kind", "url"),
    [
        ("https://github.com/a/b.git", None, "https://github.com/a/b/blob/main/w/pages/x%20y.md"),
        ("git@gitlab.example.org:a/b.git", None, "https://gitlab.example.org/a/b/-/blob/main/w/pages/x%20y.md"),
        ("ssh://git@codeberg.org/a/b", None, "https://codeberg.org/a/b/src/branch/main/w/pages/x%20y.md"),
        ("https://git.example.org/a/b", None, None),
        ("https://git.example.org/a/b", "gitea", "https://git.example.org/a/b/src/branch/main/w/pages/x%20y.md"),
        ("/srv/github/repo.git", "github", None),
        ("file:///srv/repo.git", None, None),
    ],
)
def test_a_file_is_shown_by_its_forge(repository: str, kind: str | None, url: str | None) -> None:
    assert forge_of(repository, kind=kind, branch="main", folder="w").file_url("pages/x y.md") == url
