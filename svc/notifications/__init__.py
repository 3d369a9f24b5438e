"""Notifications: a person is told of new mail, by the browser that is open and by Web Push where none is.

Owns whom is told of which account, when and in how many words, and the browsers that take pushes. It follows what mail
recorded (``mail-received``), so that nothing here slows down or fails the storing of a message.
"""

from svc.notifications.feature import FEATURE

__all__ = ["FEATURE"]
