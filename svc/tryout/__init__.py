"""Lets a person try svc with a made-up mailbox beside their own mail. Owns no table; the mail is the demo's."""

from svc.tryout.feature import FEATURE

__all__ = ["FEATURE"]
