"""Habits: what a person wants to do each day, and how often they did. A scratch feature for ``test_new_feature.py``."""

from svc.habits.feature import FEATURE

__all__ = ["FEATURE"]
