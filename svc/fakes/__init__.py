"""Deterministic stand-ins of outside systems: whole under ``PROVIDERS=fake``, and not there otherwise.

To the service each is remote: it speaks through the same seam as the real one, and survives the service's crash.
"""
