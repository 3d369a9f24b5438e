"""The worker plane: workflow code runs here, without the database, blobs, keys and secrets.

A worker process loads only this package, so no module here imports the store or a feature. :mod:`svc.worker.terms` has
what the two planes agree on. A feature's half of this plane is a module here, named by the feature's own row and by
:mod:`svc.worker.halves`. In one process with the trusted plane it runs the same way as alone.
"""
