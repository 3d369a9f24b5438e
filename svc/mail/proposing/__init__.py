"""Replies that a rule or an agent proposes: shown in their thread until the person approves or dismisses them.

Owns ``mail_proposed_replies``, with at most one row for each thread. A proposal is deleted when its owner answers, and
when new mail comes to its thread, because it then no longer answers the newest message.
"""
