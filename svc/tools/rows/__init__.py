"""The tools themselves, a module for each family, each a list of rows."""
