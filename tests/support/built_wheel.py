"""The wheel of this source tree, and an empty virtual environment with nothing but that."""

import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
UV: Final = ROOT / ".venv" / "uv" / "bin" / "uv"
PATIENCE: Final = 300.0


def build_wheel(folder: Path) -> Path:
    """Build it as a release would, with the dashboard in it."""
    _run([sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", str(folder)])
    (wheel,) = folder.glob("rota-*.whl")
    return wheel


def install_wheel(wheel: Path, folder: Path, *beside: str, extra: str) -> Path:
    """Install it with what it says that it needs, and `beside`; return the folder of programs."""
    venv.create(folder, with_pip=False)
    programs = folder / "bin"
    locked = ["--constraint", str(ROOT / "requirements" / "dev.lock")]
    wanted = f"rota[{extra}] @ {wheel.as_uri()}"
    install = [str(UV), "pip", "install", "--quiet", "--no-config", *locked]
    _run([*install, "--python", str(programs / "python"), wanted, *beside])
    return programs


def _run(command: list[str]) -> None:
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=kept | {"UV_PYTHON_DOWNLOADS": "never"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
