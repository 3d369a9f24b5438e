"""Pictures in mail."""
