"""How a mail gets out to the browser."""
