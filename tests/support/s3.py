"""An object store for tests: rclone serving a folder over S3 on this machine."""

import contextlib
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

KEY, SECRET = "rota-tests", "only-for-the-tests"


@dataclass(frozen=True, kw_only=True)
class S3:
    """`folder` holds the buckets, one folder each."""

    folder: Path
    endpoint: str


@contextlib.contextmanager
def s3_in(folder: Path) -> Iterator[S3]:
    program = Path(sys.executable).with_name("rclone")
    arguments = ["serve", "s3", str(folder), "--addr", "127.0.0.1:0", "--vfs-cache-mode", "off"]
    arguments += ["--auth-key", f"{KEY},{SECRET}", "--config", "", "--log-level", "NOTICE"]
    with subprocess.Popen(
        [program, *arguments], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield S3(folder=folder, endpoint=endpoint_of(process))
        finally:
            process.kill()


def endpoint_of(process: "subprocess.Popen[str]") -> str:
    """The address that it says on stderr; the rest of that is read on and thrown away."""
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return found[0]
    raise AssertionError("rclone ended before it said where it listens")
