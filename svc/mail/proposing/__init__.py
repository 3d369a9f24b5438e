"""Replies that a rule or an agent proposes: shown in their thread until the person approves or dismisses them.

Owns ``mail_proposed_replies``: one a thread. A proposal goes when its owner answers, and when new mail comes to its
thread: what it answers is no longer the last word.
"""
