"""Deterministic stand-ins for outside systems. They exist only under ``PROVIDERS=fake``.

For the service each is a remote system: it uses the same interface as the real one, and survives a crash of the
service.
"""
