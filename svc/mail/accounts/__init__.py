"""Mail accounts: their rows, the state of their sync, and the failures of single messages."""
