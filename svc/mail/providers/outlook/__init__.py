"""Mailboxes at Outlook.com and Microsoft 365: IMAP and SMTP with sign-in by OAuth, since they accept no passwords."""
