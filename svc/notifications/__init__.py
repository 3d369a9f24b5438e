"""Notifications: tell a person of new mail, in the open browser, and by Web Push where none is open.

Owns who is notified of which account, when and in how much detail, and the browsers that receive pushes. It consumes
the events that mail records (``mail-received``), so that nothing here slows down or breaks the storing of a message.
"""

from svc.notifications.feature import FEATURE

__all__ = ["FEATURE"]
