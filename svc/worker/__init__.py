"""The worker plane: the code of workflows runs here, without database, blobs, keys and secrets.

This is all that a worker process loads, so nothing of it imports the store or a feature; what both planes say to each
other stands in :mod:`svc.worker.terms`, and a feature's half of this plane in a module here, which the feature's own
row and :mod:`svc.worker.halves` name. In one process with the rest it runs as it does alone.
"""
