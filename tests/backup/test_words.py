"""Complaints of the archiver are shown in words that say what to do."""

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
        ("mkdir /mnt/disk/svc: permission denied", "the user of this service may not use that folder ("),
        (
            "Error: abs: cannot list blobs: GET http://box/nobox\n---\nRESPONSE 404: 404 The specified container does "
            "not exist.\nERROR CODE: ContainerNotFound\n---\n<?xml?>\n<Error>\n</Error>\n---\n\n",
            "there is no such container (404 The specified container does not exist. (ContainerNotFound))",
        ),
        (
            '{"level": "ERROR", "msg": "sync error", "error": "GET http://box\\n---\\nRESPONSE 403: 403 Server failed '
            'to authenticate the request.\\nERROR CODE: AuthenticationFailed\\n"}',
            "the archive doesn't know these credentials (403 Server failed",
        ),
        (
            "Error: RESPONSE 403: 403 This request is not authorized.\nERROR CODE: AuthorizationFailure\n",
            "the credentials of the archive may not do that (403 This request",
        ),
        (
            "abs: cannot create shared key credential: decode account key: illegal base64 data at input byte 3",
            "the key of the archive is not whole (",
        ),
        (
            "Error: googleapi: Error 403: svc@p.example does not have storage.objects.list access to the Google Cloud "
            "Storage bucket.\nMore details:\nReason: forbidden, Message: x\n\n",
            "the credentials of the archive may not do that (googleapi: Error 403: svc@p.example does not have",
        ),
        (
            "Error: googleapi: Error 401: Invalid Credentials, authError\n",
            "the archive doesn't know these credentials (",
        ),
        ("Error: storage: bucket doesn't exist\n", "there is no such bucket (storage:"),
        (
            "dialing: google: error getting credentials using GOOGLE_APPLICATION_CREDENTIALS environment variable",
            "the credentials of the archive can't be read (",
        ),
        (
            "api error AuthorizationHeaderMalformed: the region 'us-east-1' is wrong; expecting 'eu-central-1'",
            "the bucket is in another region (",
        ),
        ("RequestTimeTooSkewed: The difference between the", "the clock of this machine is wrong ("),
        ("ssh: handshake failed: ssh: unable to authenticate", "the server of the archive doesn't know this key ("),
        ("tls: failed to verify certificate: x509: certificate", "the certificate of its server can't be trusted ("),
        ("something else", "something else"),
    ],
)
def test_the_cause_comes_first(said: str, words: str) -> None:
    told = complaint(said.encode())
    assert told.startswith(words)
    assert told.endswith(")") or told == said, "what it said is still there, for whoever can use it"


def test_a_sentence_begins_with_a_capital_but_no_address_does() -> None:
    assert as_sentence("it is away") == "It is away."
    assert as_sentence("s3://box/there did not answer") == "s3://box/there did not answer."
    assert as_sentence("svc may not do that") == "svc may not do that."
    assert as_sentence("The replica is full.") == "The replica is full."
