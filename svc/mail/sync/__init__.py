"""One loop an account: what the provider has comes here, what changed here goes there."""
