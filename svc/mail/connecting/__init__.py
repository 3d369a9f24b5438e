"""Connecting an account by OAuth, and the grant it lives by."""
