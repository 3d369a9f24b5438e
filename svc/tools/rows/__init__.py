"""The tools of svc: one module for each family, each a list of rows."""
