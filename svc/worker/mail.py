"""Mail's half of the worker plane: its workflows."""

from __future__ import annotations

from typing import Final

from svc.worker.mail_import import IMPORT
from svc.worker.rows import WorkerRows
from svc.worker.search import REINDEX

ROWS: Final = WorkerRows(workflows=(REINDEX, IMPORT))
