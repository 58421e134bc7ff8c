"""The settings of a command: its flags, this process's environment, the file. Room: cli."""

import os
from pathlib import Path

from rota.config.load import load
from rota.config.settings import Settings


def settings_for(*, data: Path | None, config: Path | None) -> Settings:
    """What the operator asked for, checked; anything wrong raises `InvalidSetting`."""
    flags = {"database": {"data": str(data) if data else None}}
    return load(environment=os.environ, file=config, flags=flags)
