"""Mending mail: a lost body or attachment is made again from the raw message, and that is asked for at the provider.

Owns what health shows of it. Which blobs are damaged, and when one is tried again, is ``svc.healing``'s.
"""
