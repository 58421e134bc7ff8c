"""Another tzdata wheel: a copy of the installed one in which zones have other rules."""

import importlib
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from rota.core.time import zones


def make_wheel(folder: Path, *, version: str, rules: Mapping[str, str]) -> Path:
    """Write a tzdata package where zones have the rules of others; return the folder to import
    it from.
    """
    package = folder / "tzdata"
    shutil.copytree(str(files("tzdata")), package)
    for zone, other in rules.items():
        (package / "zoneinfo" / zone).write_bytes((package / "zoneinfo" / other).read_bytes())
    source = package / "zoneinfo" / "tzdata.zi"
    lines = source.read_text("utf-8").splitlines(keepends=True)
    source.write_text("".join([f"# version {version}\n", *lines[1:]]), encoding="utf-8")
    return folder


@contextmanager
def installed_wheel(folder: Path) -> Iterator[None]:
    """Have this process use the wheel in that folder, as after an upgrade and a start."""
    before = {name: sys.modules.pop(name) for name in [*sys.modules] if _is_tzdata(name)}
    sys.path.insert(0, str(folder))
    _forget()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if _is_tzdata(name)]:
            del sys.modules[name]
        sys.modules.update(before)
        _forget()


def _is_tzdata(name: str) -> bool:
    return name == "tzdata" or name.startswith("tzdata.")


def _forget() -> None:
    importlib.invalidate_caches()
    zones.zone_names.cache_clear()
    zones.tzdata_version.cache_clear()
    zones._load.cache_clear()
