"""Export of everything, and import into an empty home."""
