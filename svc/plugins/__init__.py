"""Plugins: packages of an npm registry that add pages, palette entries, themes and MCP servers, as data.

``SVC_PLUGINS`` lists the wanted plugins. A ``plugins.json`` in a repository that the instance follows (:func:`pin`)
takes its place. npm installs them as an untrusted child process, into a new set that replaces the old one at once.
Nothing of a package runs in this process. Owns the folder ``plugins`` of the home, the tables ``plugins``,
``plugin_pins`` and ``plugin_actors``, and the topic ``plugins``. Start reading at ``manifest.py`` and ``service.py``.
"""

from svc.plugins.actions import pin, problem_of
from svc.plugins.feature import FEATURE
from svc.plugins.manifest import McpRow, PageKind, schema
from svc.plugins.queries import decided
from svc.plugins.service import Acting, Plugins

__all__ = ["FEATURE", "Acting", "McpRow", "PageKind", "Plugins", "decided", "pin", "problem_of", "schema"]
