"""Pages as configuration: the pages below certain paths are read, checked and, while they are valid, applied.

A feature adds a kind (:class:`Kind`) for the pages below a path: it says how their front matter is read. A fault in a
page is reported with its line (``config.problems``), and the newest valid revision of the page stays in force. So
nothing is stored here. There is only a cache of parsed revisions, which never change. What plugins bring, and an admin
has agreed to, counts beside the pages, and acts for that admin.
"""

from svc.configuring.feature import FEATURE
from svc.configuring.from_plugins import FOLDER as PLUGINS
from svc.configuring.kinds import Fault, Kind, Read
from svc.configuring.reading import Configuration, Configured, Problem, parse
from svc.configuring.values import Fields, split

__all__ = [
    "FEATURE",
    "PLUGINS",
    "Configuration",
    "Configured",
    "Fault",
    "Fields",
    "Kind",
    "Problem",
    "Read",
    "parse",
    "split",
]
