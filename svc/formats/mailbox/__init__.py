"""Mailboxes as files: mbox and Maildir, read as strangers write them and written so that nothing is lost.

Pure, bounded and in one pass: only one mail is in memory at a time, however large the file is. The modules: ``mbox``
cuts a stream into mails and quotes them; ``marks`` reads and writes the data beside a mail's own bytes (labels, read,
starred); ``takeout`` knows Google's label names in other languages; ``maildir`` has the names of Maildir's files, and
``utf7`` reads and writes those of folders; ``emlx`` reads the files of Apple Mail.
"""

from svc.formats.mailbox.marks import Marks, read_marks, with_marks
from svc.formats.mailbox.mbox import MAX_MAIL_BYTES, Mail, TooLong, entry, envelope_date, is_mbox, mails

__all__ = [
    "MAX_MAIL_BYTES",
    "Mail",
    "Marks",
    "TooLong",
    "entry",
    "envelope_date",
    "is_mbox",
    "mails",
    "read_marks",
    "with_marks",
]
