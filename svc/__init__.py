"""svc: a self-hosted workspace server. ``ARCHITECTURE.md`` is the map of this package."""

__version__ = "0.1.0"
