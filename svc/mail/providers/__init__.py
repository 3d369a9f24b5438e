"""The seam to mail providers, and the providers behind it."""
