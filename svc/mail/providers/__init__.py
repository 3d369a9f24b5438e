"""The seam to mail providers (the interface that sync calls), and the providers that implement it."""
