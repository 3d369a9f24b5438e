"""Blocking a sender, and hearing of them again. What it means for mail that arrives stands in ``threads/blocks.py``."""
