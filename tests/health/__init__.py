"""Health: the checks, whoever runs them."""
