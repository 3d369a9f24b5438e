"""Actions of a person on threads: labels, star, spam, trash, read, unread, mute, snooze; and how each step is undone.

Owns no tables (see ``owners.py``). Start reading at ``step.py``: every action is one step, which changes the local
state, queues the changes for the provider, and stores its own inverse for undo.
"""
