"""Label changes made here, on their way to the provider."""
