"""The settings of plugins."""

from __future__ import annotations

from typing import Final

from svc.config import BadValue, Setting, http_url
from svc.plugins.specs import BadSpec, Spec, listed

_REMEDY: Final = "write them as name@version or name@range, with commas or spaces between"


def _specs(value: str) -> tuple[Spec, ...]:
    try:
        return listed(value)
    except BadSpec as fault:
        raise BadValue(f"{fault}; {_REMEDY}") from fault


PLUGINS: Setting[tuple[Spec, ...]] = Setting(
    name="SVC_PLUGINS",
    parse=_specs,
    default=(),
    shown_default="unset",
    type="list",
    help="Plugins by package name, with a version or a range: `svc-plugin-studio@^1, @team/notes@2.0.1`. They are "
    "installed at boot. A `plugins.json` in the repository of `SVC_GITOPS_REPO` wins.",
)
REGISTRY: Setting[str] = Setting(
    name="SVC_PLUGINS_REGISTRY",
    parse=http_url,
    default="",
    shown_default="npm's own",
    type="URL",
    help="The npm registry that plugins are installed from; nothing is fetched from elsewhere.",
)
SETTINGS = (PLUGINS, REGISTRY)
