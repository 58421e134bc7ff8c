"""Makes `.venv/` from the locked, hashed requirements; does nothing when it is up to date.

Standard library only, for a machine that has Python 3.11+ and nothing else. Called by the
Makefile: `bootstrap.py` for what `rota` needs, `bootstrap.py --dev` for what the tests need too.
uv is fetched into the environment itself, by hash, because it installs ten times faster than pip.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
UV_HOME = VENV / "uv"
LOCKS = {"run": ROOT / "requirements" / "run.lock", "dev": ROOT / "requirements" / "dev.lock"}


def main() -> int:
    if sys.version_info < (3, 11):
        return refuse(
            f"Rota needs Python 3.11 or newer; this is {sys.version.split()[0]} "
            f"({sys.executable}). Try: make PYTHON=/path/to/python3.12 {'test' if DEV else 'up'}"
        )
    wanted = "dev" if DEV else "run"
    if is_current(wanted):
        return 0
    try:
        prepare(wanted)
    except subprocess.CalledProcessError as error:
        return refuse(f"step failed: {' '.join(map(str, error.cmd))}")
    return 0


def prepare(wanted: str) -> None:
    say(f"preparing .venv ({'with what the tests need' if wanted == 'dev' else 'runtime'})")
    for name in LOCKS:
        stamp_file(name).unlink(missing_ok=True)
    if not works(PYTHON):
        shutil.rmtree(VENV, ignore_errors=True)
        # Without pip: Debian ships venv without ensurepip, and uv needs no pip.
        run(sys.executable, "-m", "venv", "--without-pip", VENV)
    uv = find_uv()
    install: list[str | Path] = [uv, "pip", "--quiet", "--no-config"]
    run(
        *install,
        "sync",
        "--python",
        PYTHON,
        "--require-hashes",
        "--compile-bytecode",
        LOCKS[wanted],
    )
    run(*install, "install", "--python", PYTHON, "--no-deps", "--no-build-isolation", "-e", ROOT)
    stamp_file(wanted).write_text(stamp(wanted))


def find_uv() -> Path:
    uv = UV_HOME / "bin" / "uv"
    if works(uv):
        return uv
    lock = ROOT / "requirements" / "bootstrap.lock"
    pip_for = pip_command()
    run(
        *pip_for,
        "install",
        "--quiet",
        "--no-warn-script-location",
        "--disable-pip-version-check",
        "--no-deps",
        "--require-hashes",
        "--upgrade",
        "--target",
        UV_HOME,
        "-r",
        lock,
    )
    return uv


def pip_command() -> list[str | Path]:
    """Prefer the calling Python's pip; else unpack one into the environment."""
    if works(Path(sys.executable), "-m", "pip"):
        return [sys.executable, "-m", "pip"]
    if (
        subprocess.run([PYTHON, "-m", "ensurepip"], capture_output=True, check=False).returncode
        == 0
    ):
        return [PYTHON, "-m", "pip"]
    raise SystemExit(
        refuse(
            "this Python has neither pip nor ensurepip; install your system's pip "
            "package (Debian: apt-get install python3-pip)"
        )
    )


def is_current(wanted: str) -> bool:
    """A development environment also serves for running."""
    names = ("dev",) if wanted == "dev" else ("run", "dev")
    return (VENV / "bin" / "rota").exists() and any(
        stamp_file(name).is_file() and stamp_file(name).read_text() == stamp(name) for name in names
    )


def stamp(name: str) -> str:
    digest = hashlib.sha256()
    # A moved checkout needs a new editable install; a new Python needs everything new.
    digest.update(f"{ROOT}\0{sys.version}\0".encode())
    for path in (LOCKS[name], ROOT / "pyproject.toml", ROOT / "requirements" / "bootstrap.lock"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def stamp_file(name: str) -> Path:
    return VENV / f"rota-{name}.stamp"


def works(program: Path, *arguments: str) -> bool:
    try:
        done = subprocess.run([program, *arguments, "--version"], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def run(*command: str | Path) -> None:
    subprocess.run(command, check=True, env=os.environ | {"UV_PYTHON_DOWNLOADS": "never"})


def say(message: str) -> None:
    print(f"rota: {message}", file=sys.stderr, flush=True)


def refuse(message: str) -> int:
    say(message)
    return 1


DEV = "--dev" in sys.argv[1:]

if __name__ == "__main__":
    raise SystemExit(main())
