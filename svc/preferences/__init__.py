"""Preferences of a person for the app, in all their browsers: the format of dates, the start page, and the keys.

Owns one row per person. Settings that belong to a screen, such as colours and density, are stored in the browser, not
here.
"""

from svc.preferences.actions import bring_back
from svc.preferences.feature import FEATURE

__all__ = ["FEATURE", "bring_back"]
