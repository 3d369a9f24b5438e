"""The escrow service of a fleet: stores the wrapped master key of each tenant, for the cells that may read it.

``SVC_SERVICE=key-escrow-control-plane svc serve`` starts it: a separate program with its own PostgreSQL database
(schema ``control_plane``). Any number of replicas can run side by side. It loads no feature, opens no home and no
cell's database, and never sees a key: a key-management service has wrapped what it stores, and this program never calls
that service.
"""
