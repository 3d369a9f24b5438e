"""Finding mail: the full-text index, the language people search in, and what a search answers.

The index is kept by a subsystem of its own (``tasks.py``), from a queue that the tables' own triggers fill; whoever
stores, relabels or deletes messages needs to know nothing of it.
"""
