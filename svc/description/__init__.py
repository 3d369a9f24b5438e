"""The description of the service for other developers: its routes and procedures as OpenAPI, and a page that shows
them.

Owns no table. It describes the rows of all features; it decides nothing.
"""

from svc.description.feature import FEATURE
from svc.description.openapi import openapi

__all__ = ["FEATURE", "openapi"]
