"""Any mailbox that speaks IMAP, with SMTP for what leaves."""
