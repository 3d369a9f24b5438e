"""Import and export of mail: an mbox, a Takeout archive or a Maildir becomes mail of an account, and back."""
