"""Snippets: texts that a person writes again and again. Each has a name of one word, by which it is put into mail.

Owns ``mail_snippets``. Only its owner sees a snippet. The app fills its fields (``{first name}``) when the snippet is
put into a mail; here a field is text like any other.
"""
