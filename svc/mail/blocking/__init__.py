"""Blocking and unblocking a sender. ``threads/blocks.py`` applies blocks to mail that arrives."""
