"""Mending mail: makes a lost body or attachment again from the raw message, and fetches a lost raw message again.

Owns the counts and lists of damage that health shows. ``svc.healing`` decides which blobs are damaged, and when mending
is tried again.
"""
