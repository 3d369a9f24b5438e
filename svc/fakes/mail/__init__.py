"""In-memory mailboxes that survive the service's crash."""
