"""Looks at web/package-lock.json: it names no host, and has what every platform needs.

npm drops an optional package silently if the registry that it asks has not got it, and writes into
the lock file where it got the others. Either is noticed on another machine only.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LOCK = Path(__file__).resolve().parent.parent / "web" / "package-lock.json"
# Fields that name places where people can read about a package or pay for it.
ABOUT = ("funding", "homepage", "bugs", "repository")
HOST = re.compile(r"(?:https?|git|ssh)\S*://[^\s\"]+")


def faults(lock: dict[str, Any]) -> Iterator[str]:
    packages: dict[str, dict[str, Any]] = lock.get("packages", {})
    for name, entry in packages.items():
        told = {key: value for key, value in entry.items() if key not in ABOUT}
        if found := HOST.search(json.dumps(told)):
            yield f"{name or 'the project'} names a host: {found.group()}"
        if name and "integrity" not in entry:
            yield f"{name} has no hash"
        for optional in entry.get("optionalDependencies", {}):
            if not is_there(packages, name, optional):
                yield f"{name} has no {optional}: pin a version that is there for all platforms"


def is_there(packages: dict[str, Any], within: str, wanted: str) -> bool:
    """A package is looked for in the folders of those that need it, from the inside."""
    folder = within
    while folder:
        if f"{folder}/node_modules/{wanted}" in packages:
            return True
        folder = folder.rpartition("/node_modules/")[0]
    return f"node_modules/{wanted}" in packages


def main() -> int:
    found = list(faults(json.loads(LOCK.read_text())))
    for fault in found:
        print(f"web/package-lock.json: {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
