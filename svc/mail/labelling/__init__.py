"""What a person does to threads: labels, star, spam, trash, read and unread, snooze; and how each step is taken back.

Owns the tables ``mail_thread_labels``, ``mail_snoozes`` and ``mail_undo``. Start reading at ``step.py``: every action
is one step, which changes the local state, queues what the provider has to hear and remembers its own inverse.
"""
