"""Mailboxes of any provider by IMAP, with SMTP for sending."""
