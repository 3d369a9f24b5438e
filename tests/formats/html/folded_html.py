"""HTML as programs write it: what is its writer's own and stays in sight, and what folds below it."""

from __future__ import annotations

from typing import Final

_OUTLOOK: Final = (
    "<p class=MsoNormal><b>From:</b> Noa &lt;noa@example.org&gt;<br><b>Sent:</b> Tuesday<br><b>To:</b> Mia<br>"
    "<b>Subject:</b> Plans</p>"
)
_BORDER: Final = "border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm"

FOLDED: Final[dict[str, tuple[str, str]]] = {
    "gmail": (
        "Yes.",
        '<div dir="ltr">Yes.</div><br><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">'
        'On Tue, Oct 27, 2026 at 9:00 AM Noa &lt;<a href="mailto:noa@example.org">noa@example.org</a>&gt; wrote:<br>'
        '</div><blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex;border-left:1px solid rgb(204,204,204)">'
        "<div>Shall we meet?</div></blockquote></div>",
    ),
    "gmail, signed": (
        "Yes.",
        '<div dir="ltr"><div>Yes.</div><div><br></div><span class="gmail_signature_prefix">-- </span><br>'
        '<div dir="ltr" class="gmail_signature">Mia<br>Cranes</div></div><br><div class="gmail_quote"><div class='
        '"gmail_attr">Am Di. 27.10.2026 schrieb Noa:<br></div><blockquote class="gmail_quote">Wann?</blockquote></div>',
    ),
    "gmail, answers between": (
        "On 27 Oct 2026 at 9:00 Noa wrote: Shall we? Yes.",
        '<div class="gmail_quote"><div class="gmail_attr">On 27 Oct 2026 at 9:00 Noa wrote:</div><blockquote class='
        '"gmail_quote">Shall we?</blockquote></div><div>Yes.</div><blockquote class="gmail_quote">When?</blockquote>',
    ),
    "google groups": (
        "Yes.",
        '<div>Yes.</div><br><div class="gmail_quote">On 27 Oct 2026 Noa wrote:<blockquote>When?</blockquote></div>'
        "<p></p>\n\n-- <br />\nYou received this message because you are subscribed.<br />\n",
    ),
    "apple mail": (
        "Yes. Mia",
        '<body style="overflow-wrap: break-word;">Yes.<div><br></div><div>Mia<br id="lineBreakAtBeginningOfMessage">'
        '<div><br><blockquote type="cite"><div>On 27 Oct 2026, at 09:00, Noa &lt;n@example.org&gt; wrote:</div><br>'
        "<div>When?</div></blockquote></div><br></div></body>",
    ),
    "iphone": (
        "Yes.",
        '<div dir="ltr">Yes.</div><div dir="ltr"><br></div><br id="lineBreakAtBeginningOfSignature"><div>Sent from my '
        'phone</div><div dir="ltr"><br><blockquote type="cite">On 27 Oct 2026, Noa wrote:<br><br></blockquote>'
        '</div><blockquote type="cite"><div dir="ltr">When?</div></blockquote>',
    ),
    "thunderbird": (
        "Ja.",
        '<p>Ja.</p><div class="moz-cite-prefix">Am 27.10.26 um 09:00 schrieb Noa:<br></div><blockquote type="cite" '
        'cite="mid:1@example.org"><p>Wann?</p></blockquote><div class="moz-signature">-- <br>Mia</div>',
    ),
    "outlook": (
        "Yes.",
        f'<div class=WordSection1><p class=MsoNormal>Yes.</p><p class=MsoNormal><o:p>&nbsp;</o:p></p><div><div style="'
        f'{_BORDER}">{_OUTLOOK}</div></div><p class=MsoNormal>When?</p></div>',
    ),
    "outlook, in between two boxes": (
        "Yes.",
        f"<div><p>Yes.</p></div><div><div style='{_BORDER}'>{_OUTLOOK}</div></div><div><p>When?</p></div><p>Noa</p>",
    ),
    "outlook on the web": (
        "Yes.",
        '<div class="elementToProof">Yes.</div><div id="appendonsend"></div><hr style="display:inline-block;width:98%">'
        '<div id="divRplyFwdMsg" dir="ltr"><font><b>From:</b> Noa<br><b>Sent:</b> Tuesday</font></div><div>When?</div>',
    ),
    "outlook on a phone": (
        "Yes.",
        '<div>Yes.</div><div id="ms-outlook-mobile-signature">Get it</div><hr><div id="divRplyFwdMsg"><b>From:</b> Noa'
        "</div><p>When?</p>",
    ),
    "outlook for mac": (
        "Yes.",
        f'<div>Yes.</div><span id="OLK_SRC_BODY_SECTION"><div style="{_BORDER}">From: Noa</div><p>When?</p></span>',
    ),
    "zimbra": ("Yes.", '<div>Yes.</div><hr id="zwchr" data-marker="__DIVIDER__"><div><b>From: </b>Noa</div>When?'),
    "yahoo": (
        "Yes.",
        '<div class="ydp1-wrap"><div>Yes.</div></div><div id="ydp2yahoo_quoted_1" class="ydp2yahoo_quoted">On Tuesday '
        "Noa wrote:<div>When?</div></div>",
    ),
    "proton": (
        "Yes.",
        "<div>Yes.</div><div class=protonmail_signature_block>Mia</div><div class=protonmail_quote>On Monday Noa wrote:"
        '<br><blockquote class="protonmail_quote" type="cite">When?</blockquote></div>',
    ),
    "no names at all": (
        "Oui.",
        "Oui.<br><br>Le 27/10/2026 à 09:00, <b>Noa Brandt</b> a écrit&nbsp;:<br><blockquote>Quand ?</blockquote>",
    ),
    "a table": (
        "Yes.",
        "<table><tr><td>Yes.</td></tr><tr><td><div class=gmail_quote>When?</div></td><td>&nbsp;</td></tr></table>",
    ),
    "a picture": ("", '<img src="https://x.example/1.png" width="90"><div class=gmail_quote>When?</div>'),
    "text alone": ("Yes.", "Yes.<br>-- <br>Mia"),
}

WHOLE: Final[dict[str, str]] = {
    "own words": "<p>Yes.</p><p>At noon.</p>",
    "gmail's forward": (
        '<div>See.</div><div class="gmail_quote"><div class="gmail_attr">--- Forwarded message ---<br>From: '
        "Noa<br>Date: Tue<br>Subject: Plans<br>To: Mia<br></div>When?</div>"
    ),
    "apple's forward": (
        'See.<div><br><blockquote type="cite"><div>Begin forwarded message:</div><br><div><b>From: </b>Noa</div>'
        "<div><b>Subject: </b>Plans</div><div><b>To: </b>Mia</div></blockquote></div>"
    ),
    "thunderbird's forward": (
        '<p>See.</p><div class="moz-forward-container">-------- Forwarded Message --------<table><tr><th>Subject: </th>'
        "<td>Plans</td></tr></table><blockquote type=cite>When?</blockquote></div>"
    ),
    "an answer below": '<blockquote type="cite">When?</blockquote><p>At noon.</p>',
    "an indented passage": '<p>So:</p><blockquote style="margin:0 0 0 40px;border:none;padding:0">It is.</blockquote>',
    "only a quotation": '<div class="gmail_quote">On 27 Oct 2026 Noa wrote:<blockquote>When?</blockquote></div>',
    "nothing but what counts readers": '<img src="https://x.example/1.gif" width=1><div class=gmail_quote>A</div>',
    "an attribute of the sender's": '<p data-fold="">Yes.</p><p>No.</p>',
}
