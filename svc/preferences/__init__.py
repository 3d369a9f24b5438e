"""Preferences: how a person wants the app to be, in every browser of theirs: dates, where it opens, and its keys.

Owns one row a person. What belongs to a screen, as colours and density do, is kept in the browser, and not here.
"""

from svc.preferences.actions import bring_back
from svc.preferences.feature import FEATURE

__all__ = ["FEATURE", "bring_back"]
