"""What strangers need to know of the service: its routes and procedures as OpenAPI, and a page that shows them.

Owns no table. It describes the rows of all features as they stand; it decides nothing.
"""

from svc.description.feature import FEATURE
from svc.description.openapi import openapi

__all__ = ["FEATURE", "openapi"]
