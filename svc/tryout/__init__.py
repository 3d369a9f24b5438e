"""Trying svc out: a made-up mailbox beside one's own mail. Owns no table; the mail is the demo's."""

from svc.tryout.feature import FEATURE

__all__ = ["FEATURE"]
