"""The escrow service of a fleet: keeps the wrapped master key of each tenant, for the cells that may have it.

``SVC_SERVICE=key-escrow-control-plane svc serve``: a program of its own, on a PostgreSQL of its own (schema
``control_plane``), as many replicas beside each other as one likes. It loads no feature, opens no home and no cell's
database, and never sees a key: what it keeps is wrapped by a key-management service that it does not speak to.
"""
