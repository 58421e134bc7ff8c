"""Loads the settings of a command from its flags, the environment and the settings file."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rota.config import loader
from rota.config.settings import Settings

NO_FLAGS: Mapping[str, Mapping[str, Any]] = {}


def load_settings(
    *, data: Path | None, config: Path | None, flags: Mapping[str, Mapping[str, Any]] = NO_FLAGS
) -> Settings:
    """Load and validate the settings; raises `InvalidSetting`."""
    database = {"database": {"data": str(data) if data else None}}
    return loader.load_settings(environment=os.environ, file=config, flags=database | dict(flags))
