"""A disk that a test can fill: a small tmpfs, which needs the right to mount one."""

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SIZE_MB: Final = 400
BLOCK: Final = b"\0" * 65_536


@dataclass(kw_only=True)
class SmallDisk:
    folder: Path

    @property
    def ballast(self) -> Path:
        return self.folder / "ballast"

    def fill(self) -> None:
        """Write until nothing more fits."""
        with contextlib.suppress(OSError), self.ballast.open("ab", buffering=0) as ballast:
            while ballast.write(BLOCK):
                pass

    def free(self) -> None:
        self.ballast.unlink(missing_ok=True)


def can_mount() -> bool:
    if os.geteuid() != 0:
        return False
    place = tempfile.mkdtemp(prefix="rota-mount-")
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", place], capture_output=True, check=False
    )
    if done.returncode == 0:
        subprocess.run(["umount", place], check=True)
    Path(place).rmdir()
    return done.returncode == 0


@contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    folder.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}M,mode=777", "tmpfs", str(folder)],
        check=True,
    )
    try:
        yield SmallDisk(folder=folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
