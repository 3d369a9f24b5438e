"""What strangers write, made fit for a browser: HTML rebuilt from an allow-list, text made into HTML.

Pure functions make a :class:`CleanHtml` or its text form; :func:`plan` says, before anything is parsed, where the
work may run. What is shown is never the sender's markup: it is parsed with the HTML5 algorithm, and a new document is
written that holds nothing but elements, attributes, style properties and addresses named in the policy. The output
holds start tags, end tags and escaped text only, none of them foreign or raw, so that no browser can read anything
else out of it, however it repairs the nesting. No I/O, no clock; never an address of a remote image in the HTML.
"""

from __future__ import annotations

from svc.formats.html.emptiness import or_text, shows_something
from svc.formats.html.model import FOLD, FRAME_CSP, POLICY_VERSION, CleanHtml
from svc.formats.html.plain import text_fallback, text_to_html
from svc.formats.html.plan import Plan, plan
from svc.formats.html.sanitizing import sanitize

__all__ = [
    "FOLD",
    "FRAME_CSP",
    "POLICY_VERSION",
    "CleanHtml",
    "Plan",
    "or_text",
    "plan",
    "sanitize",
    "shows_something",
    "text_fallback",
    "text_to_html",
]
