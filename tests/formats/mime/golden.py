"""Odd mails, made by hand, and what is to be read in each. Line ends are LF; a test sends them with CRLF, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from svc.formats.mime import Mailbox


@dataclass(frozen=True, kw_only=True)
class Golden:
    """``expected``: by field of the parsed message. ``attachments``: filename, type, content."""

    name: str
    raw: bytes
    expected: Mapping[str, object]
    attachments: tuple[tuple[str, str, bytes], ...] = ()


def mailbox(name: str, address: str) -> Mailbox:
    return Mailbox(name=name, address=address)


GOLDEN = (
    Golden(
        name="an_ordinary_mail",
        raw=b"""From: "Mia Tern" <mia@tern.example>
To: hello@tern.example, Jo <jo@x.example>
Cc: list@x.example
Reply-To: replies@tern.example
Subject: Lunch?
Date: Tue, 27 Oct 2026 09:00:00 +0100
Message-ID: <one@tern.example>
In-Reply-To: <zero@x.example>
References: <minus@x.example> <zero@x.example>
List-Id: Lunch <lunch.x.example>
X-Svc-Outgoing: out_1
X-Microsoft-Original-Message-ID: <first@tern.example>

At noon.
""",
        expected={
            "sender": mailbox("Mia Tern", "mia@tern.example"),
            "to": (mailbox("", "hello@tern.example"), mailbox("Jo", "jo@x.example")),
            "cc": (mailbox("", "list@x.example"),),
            "bcc": (),
            "reply_to": (mailbox("", "replies@tern.example"),),
            "subject": "Lunch?",
            "date": 1_793_088_000_000,
            "message_id": "one@tern.example",
            "in_reply_to": "zero@x.example",
            "references": ("minus@x.example", "zero@x.example"),
            "list_id": "Lunch <lunch.x.example>",
            "outgoing_mark": "out_1",
            "original_message_id": "first@tern.example",
            "text": "At noon.\n",
            "html": None,
            "snippet": "At noon.",
            "problems": (),
        },
    ),
    Golden(
        name="nothing_but_a_body",
        raw=b"Hello there\n\nthis has no header.\n",
        expected={
            "text": "Hello there\n\nthis has no header.\n",
            "subject": "",
            "sender": None,
            "problems": ("header without an empty line after it",),
        },
    ),
    Golden(
        name="an_mbox_line_and_empty_lines_in_front",
        raw=b"\n\nFrom mia@tern.example  Thu Aug 22 12:36:23 2002\nSubject: from a file\n\nbody\n",
        expected={"subject": "from a file", "text": "body\n", "problems": ()},
    ),
    Golden(
        name="a_folded_header_that_lost_its_blank",
        raw=b"Subject: one\nX-Spam: score=1\ntests=FOO\nFrom: a@b.example\n\nbody\n",
        expected={
            "sender": mailbox("", "a@b.example"),
            "text": "body\n",
            "problems": ("line without a colon in the header",),
        },
    ),
    Golden(
        name="text_and_html_as_alternatives",
        raw=b"""Content-Type: multipart/alternative; boundary="b 1"

preamble
--b 1
Content-Type: text/plain; charset=utf-8

caf\xc3\xa9
--b 1
Content-Type: text/html; charset=iso-8859-1

<p>caf\xe9 \x80 5</p>
--b 1
Content-Type: text/x-amp-html

<html amp>
--b 1--
epilogue
""",
        expected={
            "text": "café",
            "html": "<p>café € 5</p>",
            "snippet": "café",
            "problems": (),
        },
    ),
    Golden(
        name="related_images_inside_an_alternative_inside_a_mixed",
        raw=b"""Content-Type: multipart/mixed; boundary=outer

--outer
Content-Type: multipart/alternative; boundary=alt

--alt

plain
--alt
Content-Type: multipart/related; boundary=rel

--rel
Content-Type: text/html

<img src="cid:logo@x">
--rel
Content-Type: image/png; name=logo.png
Content-ID: <logo@x>
Content-Transfer-Encoding: base64

iVBORw==
--rel--
--alt--
--outer
Content-Type: application/pdf
Content-Disposition: attachment; filename="report.pdf"

%PDF
--outer
Content-Type: text/plain

a list's footer
--outer--
""",
        expected={
            "text": "plain\na list's footer",
            "html": '<img src="cid:logo@x">\n<div>a list&#x27;s footer</div>',
        },
        attachments=(("logo.png", "image/png", b"\x89PNG"), ("report.pdf", "application/pdf", b"%PDF")),
    ),
    Golden(
        name="an_inner_multipart_that_never_ends",
        raw=b"""Content-Type: multipart/mixed; boundary=a

--a
Content-Type: multipart/alternative; boundary=b

--b

inner
--a
Content-Disposition: attachment; filename=x.txt

outer
--a--
""",
        expected={"text": "inner"},
        attachments=(("x.txt", "text/plain", b"outer"),),
    ),
    Golden(
        name="a_part_cut_off_inside_its_header",
        raw=b"Content-Type: multipart/mixed; boundary=a\n\n--a\n\nfirst\n--a\nContent-Type: text/pl",
        expected={"text": "first"},
    ),
    Golden(
        name="a_multipart_without_a_boundary",
        raw=b"""Content-Type: multipart/mixed

--secret
Content-Type: text/plain

found it
--secret
Content-Type: image/gif

GIF89a
--secret--
""",
        expected={"text": "found it"},
        attachments=(("attachment.gif", "image/gif", b"GIF89a"),),
    ),
    Golden(
        name="a_multipart_that_has_no_parts",
        raw=b"Content-Type: multipart/mixed; boundary=nowhere\n\njust text\n",
        expected={"text": "just text\n", "html": None},
    ),
    Golden(
        name="a_multipart_said_to_be_base64",
        raw=b"""Content-Type: multipart/mixed; boundary=a
Content-Transfer-Encoding: base64

--a
Content-Transfer-Encoding: base64

aGVsbG8=
--a--
""",
        expected={"text": "hello"},
    ),
    Golden(
        name="a_boundary_whose_blanks_moved",
        raw=b'Content-Type: multipart/mixed; boundary="=Multi\n part"\n\n--= Multipart  \n\none\n--=Multipart--\n',
        expected={"text": "one"},
    ),
    Golden(
        name="a_garbled_content_type",
        raw=b"Content-Type: \xff\xfe;;;=\n\nstill text\n",
        expected={"text": "still text\n", "problems": ("unreadable content type",)},
    ),
    Golden(
        name="a_message_within_a_message_is_kept_whole",
        raw=b"""Content-Type: multipart/digest; boundary=d

--d

Subject: inner
Content-Type: multipart/mixed; boundary=x

--x

deep
--x--
--d--
""",
        expected={"text": "", "html": None},
        attachments=(
            (
                "message.eml",
                "message/rfc822",
                b"Subject: inner\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\ndeep\n--x--",
            ),
        ),
    ),
    Golden(
        name="a_bounce",
        raw=b"""From: MAILER-DAEMON (Mail Delivery)
Auto-Submitted: auto-replied
Content-Type: multipart/report; report-type=delivery-status; boundary=r

--r

It did not arrive.
--r
Content-Type: message/delivery-status

Action: failed
--r
Content-Type: text/rfc822-headers

Subject: lost
--r--
""",
        expected={
            "sender": mailbox("Mail Delivery", "MAILER-DAEMON"),
            "auto_submitted": "auto-replied",
            "text": "It did not arrive.",
        },
        attachments=(
            ("delivery-status.txt", "message/delivery-status", b"Action: failed"),
            ("headers.txt", "text/rfc822-headers", b"Subject: lost"),
        ),
    ),
    Golden(
        name="pgp_encrypted",
        raw=b"""Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary=e

--e
Content-Type: application/pgp-encrypted

Version: 1
--e
Content-Type: application/octet-stream

-----BEGIN PGP MESSAGE-----
--e--
""",
        expected={"text": "", "html": None, "snippet": ""},
        attachments=(
            ("encrypted.asc", "application/pgp-encrypted", b"Version: 1"),
            ("attachment.bin", "application/octet-stream", b"-----BEGIN PGP MESSAGE-----"),
        ),
    ),
    Golden(
        name="signed_with_a_tnef",
        raw=b"""Content-Type: multipart/signed; boundary=s

--s

signed text
--s
Content-Type: application/pgp-signature

sig
--s
Content-Type: application/ms-tnef

\x78\x9f\x3e\x22
--s--
""",
        expected={"text": "signed text"},
        attachments=(
            ("signature.asc", "application/pgp-signature", b"sig"),
            ("winmail.dat", "application/ms-tnef", b"\x78\x9f\x3e\x22"),
        ),
    ),
    Golden(
        name="html_and_text_sent_as_files",
        raw=b"""Content-Type: multipart/mixed; boundary=m

--m
Content-Type: text/html
Content-Disposition: attachment; filename="page.html"

<b>file</b>
--m

the body
--m
Content-Type: text/plain; name="notes.txt"
Content-Disposition: inline; filename="notes.txt"

a file, too
--m--
""",
        expected={"text": "the body", "html": None},
        attachments=(("page.html", "text/html", b"<b>file</b>"), ("notes.txt", "text/plain", b"a file, too")),
    ),
    Golden(
        name="a_whole_mail_that_is_one_file",
        raw=b"""Subject: scan
Content-Type: application/pdf; name*=utf-8''r%C3%A9sum%C3%A9.pdf
Content-Transfer-Encoding: BASE64

JVBE
Rg
""",
        expected={"subject": "scan", "text": "", "snippet": ""},
        attachments=(("résumé.pdf", "application/pdf", b"%PDF"),),
    ),
    Golden(
        name="a_subject_in_pieces_of_pieces",
        raw=b"""Subject: =?utf-8?B?R3LDvMOf?= =?UTF-8?B?ZSDD?=
 =?utf-8?Q?=BCber?=\tall =?iso-8859-1?q?f=FCr dich?=

x
""",
        expected={"subject": "Grüße über all für dich"},
    ),
    Golden(
        name="a_subject_that_would_forge_a_header",
        raw=b"Subject: =?utf-8?Q?hello=0D=0ABcc:_all@x.example=E2=80=A8=E2=80=AEdlrow=00?=\n\nx\n",
        expected={"subject": "hello Bcc: all@x.example dlrow", "bcc": ()},
    ),
    Golden(
        name="raw_eight_bit_headers_in_the_mails_own_charset",
        raw="Subject: Привет, мир\nContent-Type: text/plain; charset=koi8-r\n\nДа\n".encode("koi8-r"),
        expected={"subject": "Привет, мир", "text": "Да\n"},
    ),
    Golden(
        name="a_body_in_stateful_japanese",
        raw=b"Subject: =?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=\nContent-Type: text/plain; charset=ISO-2022-JP\n\n"
        b"\x1b$BF|K\\\x1b(B\n",
        expected={"subject": "日本", "text": "日本\n", "problems": ()},
    ),
    Golden(
        name="an_unknown_charset",
        raw=b"Content-Type: text/plain; charset=x-klingon\n\nna\xefve\n",
        expected={"text": "naïve\n", "problems": ("unknown charset x-klingon",)},
    ),
    Golden(
        name="html_that_names_its_own_charset",
        raw=b'Content-Type: text/html\n\n<meta http-equiv=x content="text/html; charset=windows-1251">\xcf\xf0\xe8\n',
        expected={"html": '<meta http-equiv=x content="text/html; charset=windows-1251">При\n', "snippet": "При"},
    ),
    Golden(
        name="broken_quoted_printable",
        raw=b"Content-Transfer-Encoding: Quoted-Printable\n\nsoft=   \nly = broken =E2=82=AC =XY\n",
        expected={"text": "softly = broken € =XY\n"},
    ),
    Golden(
        name="a_uuencoded_part",
        raw=b"Content-Type: image/gif; name=x.gif\nContent-Transfer-Encoding: x-uuencode\n\n"
        b"begin 644 x.gif\n#0V%T\n`\nend\n",
        expected={"text": ""},
        attachments=(("x.gif", "image/gif", b"Cat"),),
    ),
    Golden(
        name="a_list_footer_after_base64",
        raw=b"Content-Transfer-Encoding: base64\n\naGVsbG8=\n_____\nTo leave: www.x.example\n",
        expected={"text": "hello"},
    ),
    Golden(
        name="control_characters_everywhere",
        raw=b"Subject: a\x00b\x07c\x7f\n\none\x00two\x1b[31m\tthree\x0cfour\n",
        expected={"subject": "abc", "text": "onetwo[31m\tthree\nfour\n"},
    ),
)
