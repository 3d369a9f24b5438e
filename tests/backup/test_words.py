"""What the archiver complains of is told in words that say what to do."""

from __future__ import annotations

import pytest

from svc.backup.litestream import as_sentence, complaint


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            "write /mnt/disk/svc/db/ltx/0/1.ltx.tmp: no space left on device",
            "the disk of the archive is full (write /mnt/disk",
        ),
        (
            "operation error S3: ListObjectsV2, get identity: get credentials: failed to refresh cached credentials, "
            "no EC2 IMDS role found, operation error ec2imds: GetMetadata",
            "no credentials are set for the archive (",
        ),
        (
            "operation error S3: PutObject, https response error, api error AccessDenied: Access Denied",
            "the credentials of the archive may not do that (",
        ),
        (
            "api error InvalidAccessKeyId: The AWS Access Key Id does not exist",
            "the archive doesn't know these credentials (",
        ),
        ("api error SignatureDoesNotMatch: check your key", "the archive doesn't know these credentials ("),
        ("api error NoSuchBucket: The specified bucket does not exist", "there is no such bucket ("),
        ("dial tcp: lookup box.local: no such host", "the name of its server is not known here ("),
        ("dial tcp 127.0.0.1:9: connect: connection refused", "nothing answers at its address ("),
        ("mkdir /mnt/disk/svc: permission denied", "svc may not use that folder ("),
        ("something else", "something else"),
    ],
)
def test_the_cause_comes_first(said: str, words: str) -> None:
    told = complaint(said.encode())
    assert told.startswith(words)
    assert said[:20] in told, "what it said is still there, for whoever can use it"


def test_a_sentence_begins_with_a_capital_but_no_address_does() -> None:
    assert as_sentence("it is away") == "It is away."
    assert as_sentence("s3://box/there did not answer") == "s3://box/there did not answer."
