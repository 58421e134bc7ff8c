"""Which release is the previous one, and its source, taken from git.

Nothing of it is installed: its processes run with this checkout's Python and packages, and find
their own `rota`, with its own metadata, first on the path.
"""

import io
import os
import subprocess
import sys
import tarfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The commit of the previous release. A release changes this line, and nothing else here.
PREVIOUS_RELEASE = "023bc916b4a7a9442211296351ad792055d10ad6"
MISSING = (
    f"the previous release, commit {PREVIOUS_RELEASE}, is not in this clone; "
    "run `git fetch --unshallow` (or clone without --depth) and test again"
)
WHERE = "import rota, pathlib; print(pathlib.Path(rota.__file__).parent.parent)"


@dataclass(frozen=True, kw_only=True)
class Release:
    """One version of Rota: where its source is."""

    name: str
    source: Path

    def environment(self, **more: str) -> dict[str, str]:
        """The variables of a process of this release; tests find their handlers in the root."""
        path = os.pathsep.join((str(self.source), str(ROOT)))
        return {"PATH": os.environ["PATH"], "PYTHONPATH": path, **more}

    def check(self) -> None:
        """Fail unless a process of this release imports its own code."""
        done = subprocess.run(
            [sys.executable, "-c", WHERE],
            env=self.environment(),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        found = Path(done.stdout.strip())
        if found != self.source:
            raise AssertionError(f"the {self.name} release would run {found}, not {self.source}")


def this_release() -> Release:
    return Release(name="new", source=ROOT / "src")


def previous_release(folder: Path, *, commit: str = PREVIOUS_RELEASE) -> Release:
    """The previous release, unpacked into a folder."""
    packed = subprocess.run(
        ["git", "archive", "--format=tar", commit, "src", "pyproject.toml"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if packed.returncode != 0:
        raise AssertionError(MISSING)
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    write_metadata(folder)
    return Release(name="old", source=folder / "src")


def write_metadata(folder: Path) -> None:
    """Write what an installation of this release would say about it, such as its entry points."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    name, version = project["name"], project["version"]
    metadata = folder / "src" / f"{name}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")
    lines = []
    for group, entries in project.get("entry-points", {}).items():
        lines += [f"[{group}]", *(f"{entry} = {target}" for entry, target in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
