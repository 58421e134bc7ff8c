"""Records `rota runs watch` and `rota top` as text for docs/howto/cli.md: the real program, at a
real terminal, on a real installation. Run it from the root of the repository:

    .venv/bin/python -m tools.record_screens
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.support.installation import ROTA, Installation, clean, installed
from tests.support.terminal import Terminal, in_terminal

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/howto/cli.md"
WIDTH = 100
JOBS = re.compile(r"```python\n# jobs\.py\n(.*?)```", re.DOTALL)
PLACE = r"(<!-- recorded by tools/record_screens\.py: {name} -->\n)(?:\n```text\n.*?```\n)?"
HOME = "\x1b[H"
DRAWN_OVER = re.compile(r"(?:\x1b\[1A(?:\x1b\[2K)?\r?)+")
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


def main() -> int:
    page = PAGE.read_text()
    found = JOBS.search(page)
    if found is None:
        print("the page has no jobs.py")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "jobs.py").write_text(found[1])
        for name, text in record(Path(folder)).items():
            block = f"\n```text\n{text}\n```\n"
            place = re.compile(PLACE.format(name=name), re.DOTALL)
            # A function, because the text has backslashes of its own.
            page = place.sub(partial(filled, block), page)
    PAGE.write_text(page)
    return 0


def filled(block: str, place: re.Match[str]) -> str:
    return place[1] + block


def record(folder: Path) -> dict[str, str]:
    with installed(folder, app="jobs:app") as there:
        ids = {job.name: job.job_id for job in there.client.list_jobs().items}

        def start(name: str) -> str:
            return there.client.run_job_now(ids[name], overlap="allow").run_id

        dead = start("shop.charge")
        there.ended(dead)
        runs = [start("shop.report"), start("shop.report")]
        with at_terminal(there, "runs", "watch", *runs, dead) as terminal:
            terminal.end()
            watch = moments(terminal, lines=3)
        runs = [start("shop.report"), start("shop.report")]
        with at_terminal(there, "top") as terminal:
            terminal.until("of 10")
            terminal.type("q")
            terminal.end()
            top = last_screen(terminal)
    return {"watch": watch, "top": top.replace(there.url, "http://127.0.0.1:7070")}


@contextmanager
def at_terminal(there: Installation, *arguments: str) -> Iterator[Terminal]:
    environment = clean(ROTA_URL=there.url, NO_COLOR="1")
    del environment["COLUMNS"]
    words = [str(ROTA), *arguments]
    with in_terminal(words, folder=there.folder, environment=environment, width=WIDTH) as terminal:
        yield terminal


def last_screen(terminal: Terminal) -> str:
    """The last whole screen: what was drawn between two returns to the upper left corner."""
    screens = [plain(each) for each in terminal.raw.split(HOME)]
    return next(each for each in reversed(screens) if "of 10" in each)


def moments(terminal: Terminal, *, lines: int) -> str:
    """A screen from the middle, and the last one."""
    frames = [plain(each) for each in DRAWN_OVER.split(terminal.raw)]
    whole = [each for each in frames if len(each.splitlines()) >= lines]
    middle = next((each for each in whole if "60%" in each), whole[0])
    return f"{middle}\n\n{whole[-1]}"


def plain(raw: str) -> str:
    text = ESCAPE.sub("", raw)
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


if __name__ == "__main__":
    sys.exit(main())
