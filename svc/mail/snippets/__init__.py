"""Snippets: texts that a person writes again and again, kept by a name of one word and put into mail by it.

Owns ``mail_snippets``. A snippet is its owner's alone. What its fields (``{first name}``) become is decided where it is
written into a mail, by the app; here a field is text like any other.
"""
