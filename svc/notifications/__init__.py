"""Notifications: tell a person of new mail, in the open browser, and by Web Push where none is open.

Owns who is notified of which account, when and in how much detail, and the browsers that receive pushes. It consumes
the events that mail records (``mail-received``), so that nothing here slows down or breaks the storing of a message.
"""

from svc.notifications.actions import set_preferences
from svc.notifications.feature import FEATURE
from svc.notifications.model import Preferences
from svc.notifications.wire import Minute, QuietInput, quiet_of

__all__ = ["FEATURE", "Minute", "Preferences", "QuietInput", "quiet_of", "set_preferences"]
