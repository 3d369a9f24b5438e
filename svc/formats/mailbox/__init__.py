"""Mailboxes as files: mbox and Maildir, read as strangers write them and written so that nothing is lost.

Pure, bounded and in one pass: a mail is in memory alone, whatever the file holds. The rooms: ``mbox`` cuts a stream
into mails and quotes them; ``marks`` reads and writes what stands beside a mail's own bytes (labels, read, starred);
``takeout`` knows what Google calls its labels in other languages; ``maildir`` has the names of Maildir's files.
"""

from svc.formats.mailbox.marks import Marks, read_marks, with_marks
from svc.formats.mailbox.mbox import MAX_MAIL_BYTES, Mail, TooLong, entry, envelope_date, mails

__all__ = ["MAX_MAIL_BYTES", "Mail", "Marks", "TooLong", "entry", "envelope_date", "mails", "read_marks", "with_marks"]
