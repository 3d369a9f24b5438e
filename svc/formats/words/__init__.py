"""The words of a text, for a search index: as the index has them, in which language, and under which stems.

Pure. What a first sync computes for many mails together runs in a worker process (:mod:`svc.formats.words.entries`), so
this package imports nothing of the mail feature.
"""
