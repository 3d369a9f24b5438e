"""Mail accounts: their rows, labels and own addresses, who may read them, the state of their sync, and the failures of
single messages.
"""
