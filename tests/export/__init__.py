"""Everything out, and into an empty home again."""
