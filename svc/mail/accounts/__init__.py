"""Mail accounts: their rows, where their sync stands, and what failed with single messages."""
