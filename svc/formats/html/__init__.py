"""Makes strangers' content fit for a browser: HTML is rebuilt from an allow-list, text is turned into HTML.

Pure functions make a :class:`CleanHtml` or its text form; before anything is parsed, :func:`plan` decides where the
work may run. The sender's markup itself is never shown. It is parsed with the HTML5 algorithm, and a new document is
written that holds only elements, attributes, style properties and addresses of the policy. The output has only start
tags, end tags and escaped text, none of them foreign or raw, so every browser reads it the same way, however it repairs
the nesting. No I/O, no clock; the HTML never holds an address of a remote image.
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
