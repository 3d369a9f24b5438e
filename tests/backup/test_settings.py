"""Where the archive goes: five kinds of places, both spellings, and every fault at once."""

from __future__ import annotations

import msgspec
import pytest

from svc.app import all_rules, all_settings
from svc.backup.litestream import Litestream
from svc.backup.settings import target_of
from svc.config import ConfigError, read_config
from tests.backup.paths import PATHS

SECRET = "k3y-$ecret"


def target(**environ: str) -> dict[str, object]:
    config = read_config(all_settings(), {"HOME": "/nobody", **environ}, all_rules())
    found = target_of(config)
    assert found is not None
    tool = Litestream(target=found, environ={"PATH": "/bin", "SVC_AUTH": "off"}, **PATHS)
    written = tool.config()
    assert SECRET.encode() not in written, "it stands in the environment alone"
    assert not any(SECRET in word for word in tool.replicating(PATHS["ledger"]))
    assert "SVC_AUTH" not in tool.environment()
    replica: dict[str, object] = msgspec.json.decode(written)["dbs"][0]["replica"]
    return {**replica, "env": sorted(set(tool.environment()) - {"PATH"})}


@pytest.mark.parametrize("word", ["ARCHIVE", "WALG"])
def test_each_kind_of_place_is_told_to_the_archiver_as_it_wants_it(word: str) -> None:
    assert target(**{f"{word}_FILE_PREFIX": "file:///mnt/archive/"})["path"] == "/mnt/archive/db"
    s3 = target(
        **{f"{word}_S3_PREFIX": "s3://bucket/a/b"},
        AWS_ACCESS_KEY_ID="id",
        AWS_SECRET_ACCESS_KEY=SECRET,
        AWS_ENDPOINT="https://s3.example.org",
        AWS_REGION="eu-central-1",
    )
    assert (s3["type"], s3["bucket"], s3["path"], s3["region"]) == ("s3", "bucket", "a/b/db", "eu-central-1")
    assert (s3["endpoint"], s3["force-path-style"]) == ("https://s3.example.org", True)
    assert s3["env"] == ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
    gs = target(**{f"{word}_GS_PREFIX": "gs://bucket"}, GOOGLE_APPLICATION_CREDENTIALS="/etc/gs.json")
    assert (gs["type"], gs["path"], gs["env"]) == ("gs", "db", ["GOOGLE_APPLICATION_CREDENTIALS"])
    az = target(**{f"{word}_AZ_PREFIX": "azure://box/x"}, AZURE_STORAGE_ACCOUNT="acc", AZURE_STORAGE_ACCESS_KEY=SECRET)
    assert (az["type"], az["bucket"], az["account-name"], az["path"]) == ("abs", "box", "acc", "x/db")
    ssh = target(
        **{f"{word}_SSH_PREFIX": "ssh://me@box:2222/srv/svc"},
        SSH_PRIVATE_KEY_PATH="/k",
        ARCHIVE_SSH_HOST_KEY="ssh-ed25519 AAAA",
    )
    assert (ssh["type"], ssh["host"], ssh["user"], ssh["path"]) == ("sftp", "box:2222", "me", "/srv/svc/db")
    assert (ssh["key-path"], ssh["host-key"]) == ("/k", "ssh-ed25519 AAAA")


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as error:
        read_config(
            all_settings(),
            {
                "HOME": "/nobody",
                "ARCHIVE_FILE_PREFIX": "not-a-path",
                "ARCHIVE_GS_PREFIX": "s3://bucket",
                "ARCHIVE_SSH_PREFIX": "ssh://box",
                "ARCHIVE_S3_PREFIX": "s3://user:pw@bucket",
                "SVC_BACKUP_DRILL": "maybe",
            },
            all_rules(),
        )
    assert {fault.name for fault in error.value.faults} == {
        *("ARCHIVE_FILE_PREFIX", "ARCHIVE_GS_PREFIX", "ARCHIVE_SSH_PREFIX", "ARCHIVE_S3_PREFIX", "SVC_BACKUP_DRILL")
    }
    assert "pw" not in str(error.value).replace("password", "")


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({"ARCHIVE_FILE_PREFIX": "/a", "WALG_GS_PREFIX": "gs://b"}, "ARCHIVE_GS_PREFIX"),
        ({"ARCHIVE_AZ_PREFIX": "azure://b"}, "ARCHIVE_AZ_ACCOUNT"),
        ({"ARCHIVE_SSH_PREFIX": "ssh://me@box/a", "ARCHIVE_SSH_KEY_FILE": "/k"}, "ARCHIVE_SSH_HOST_KEY"),
        ({"ARCHIVE_S3_PREFIX": "s3://b", "AWS_ACCESS_KEY_ID": "x"}, "ARCHIVE_S3_SECRET_ACCESS_KEY"),
        ({"ARCHIVE_FILE_PREFIX": "/srv/home/x", "SVC_HOME": "/srv/home"}, "ARCHIVE_FILE_PREFIX"),
        ({"ARCHIVE_FILE_PREFIX": "/nobody/Svc/x"}, "ARCHIVE_FILE_PREFIX"),
    ],
)
def test_what_does_not_fit_together_is_told(environ: dict[str, str], name: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_config(all_settings(), {"HOME": "/nobody", **environ}, all_rules())
    assert [fault.name for fault in error.value.faults] == [name]
