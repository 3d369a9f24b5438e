"""Which model is asked, whether it can be reached, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass

from svc.capabilities import LLM_B_URL, Door
from svc.models.prices import Price, price_of
from svc.models.settings import EMBEDDING_MODEL, MODEL
from svc.store import ReadTx
from svc.worker.models import capability_of, vendor_of
from svc.workspace import Workspace


@dataclass(kw_only=True)
class Models:
    """``want_keys``: false for a stand-in, which has none."""

    workspace: Workspace
    door: Door
    want_keys: bool = True

    @property
    def name(self) -> str:
        """The model that is asked unless a run names another."""
        return self.workspace.config[MODEL]

    @property
    def embedding_name(self) -> str:
        """The model that makes vectors of texts, as vendor B knows it."""
        return vendor_of(f"b/{self.workspace.config[EMBEDDING_MODEL].removeprefix('b/')}")[1]

    @property
    def b_is_elsewhere(self) -> bool:
        """Whether vendor B's API is served by your own server. Then it needs no key and costs nothing."""
        return self.workspace.config[LLM_B_URL].rstrip("/") != LLM_B_URL.default

    def price(self, model: str) -> Price:
        vendor, name = vendor_of(model)
        return price_of(name, is_own_server=vendor == "b" and self.b_is_elsewhere)

    def problem(self, tx: ReadTx, model: str | None = None) -> str:
        """Why no model can be asked; empty where one can."""
        capability = capability_of(model or self.name)
        if not self.want_keys or (capability == "llm.b" and self.b_is_elsewhere):
            return ""
        if self.door.available(tx, capability):
            return ""
        return (
            f"No model can be asked: there is no credential {capability}. Set it under Settings, Credentials, or point "
            "SVC_LLM_B_URL at a server of your own and SVC_MODEL at its model."
        )
