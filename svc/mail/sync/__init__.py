"""Sync between this server and the mail providers. Each account has a loop: new mail comes in, local changes go out."""
