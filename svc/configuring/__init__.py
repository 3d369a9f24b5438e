"""Pages as configuration: what stands below certain paths is read, checked, and in force while it is whole.

A feature adds a kind (:class:`Kind`) for the pages below a path: how its front matter is read. What is broken is told
with its line (``config.problems``), and the page's newest revision that was whole stays in force. So nothing is kept
here but a memory of what was read: revisions never change.
"""

from svc.configuring.feature import FEATURE
from svc.configuring.kinds import Fault, Kind, Read
from svc.configuring.reading import Configuration, Configured, Problem, parse
from svc.configuring.values import Fields, split

__all__ = ["FEATURE", "Configuration", "Configured", "Fault", "Fields", "Kind", "Problem", "Read", "parse", "split"]
