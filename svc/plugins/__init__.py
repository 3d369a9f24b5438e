"""Plugins: packages of an npm registry that bring pages, palette entries, themes and MCP servers, as data.

Which are wanted says ``SVC_PLUGINS``, or the ``plugins.json`` of a repository that somebody follows (:func:`pin`): it
wins. They are installed by npm as a child that nobody trusts, into a set that takes the place of the old one at once.
Nothing of a package runs in this process. Owns the folder ``plugins`` of the home, the tables ``plugins`` and
``plugin_pins`` and the topic ``plugins``. Start reading at ``manifest.py`` and ``service.py``.
"""

from svc.plugins.actions import pin, problem_of
from svc.plugins.feature import FEATURE
from svc.plugins.manifest import schema
from svc.plugins.queries import decided
from svc.plugins.service import Plugins

__all__ = ["FEATURE", "Plugins", "decided", "pin", "problem_of", "schema"]
