"""Mailboxes at Outlook.com and Microsoft 365: by IMAP and SMTP, signed in by OAuth, since passwords are not taken."""
