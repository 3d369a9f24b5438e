"""Mailboxes as files, in and out: an mbox, a Takeout archive or a Maildir becomes mail of an account, and back."""
