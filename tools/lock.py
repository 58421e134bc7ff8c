"""Resolves the dependencies into the five lock files, with hashes and without any host's name."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = ROOT / ".venv" / "uv" / "bin" / "uv"
COMMON = [
    "--universal",
    "--python-version",
    "3.11",
    "--generate-hashes",
    "--no-emit-index-url",
    "--no-header",
    "--no-annotate",
    "--upgrade",
    "--quiet",
    "--no-config",
]


def compile_lock(name: str, *inputs: str) -> None:
    target = ROOT / "requirements" / name
    subprocess.run(
        [UV, "pip", "compile", *inputs, *COMMON, "--output-file", target],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    if found := re.search(r"https?://\S+", target.read_text()):
        raise SystemExit(f"{name} names a host: {found.group()}")


if __name__ == "__main__":
    project = ("pyproject.toml", "--extra", "all", "requirements/build.in")
    compile_lock("run.lock", *project)
    compile_lock("dev.lock", *project, "requirements/dev.in")
    compile_lock("bootstrap.lock", "requirements/bootstrap.in")
    compile_lock("node.lock", "requirements/node.in")
    compile_lock("audit.lock", "requirements/audit.in")
