"""Markdown pages as something to carry out: their code blocks in order.

A comment before a block says what it is, where its language does not:

    <!-- file: jobs.py -->          the block is written to this file, and not run; a first line
                                    `# jobs.py` inside the block says the same
    <!-- append: jobs.py -->        the block is added to the end of this file
    <!-- fails: 64 -->              the commands of the block end with this code
    <!-- not run: needs a card -->  the block is only read; the reason is for whoever reads the page
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
_BLOCK: Final = re.compile(
    r"(?:^<!--\s*(?P<word>file|append|fails|not run):\s*(?P<value>.*?)\s*-->\n+)?"
    r"^(?P<fence>```+)(?P<language>\w*)\n(?P<body>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
_FILE: Final = re.compile(r"# (\S+\.(?:py|yaml|toml|sql))\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    language: str
    body: str
    line: int
    word: str | None
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command, and what it is said to print: None if the page shows nothing."""

    text: str
    printed: str | None


def pages() -> list[Path]:
    """Every page with something to run; three have tests of their own."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found += sorted((ROOT / "examples").rglob("README.md"))
    others = {"docs/reference/api.md", "docs/howto/write-an-executor.md", "docs/tutorial.md"}
    named = [page for page in found if str(page.relative_to(ROOT)) not in others]
    return [page for page in named if any(is_live(each) for each in blocks(page))]


def is_live(block: Block) -> bool:
    return block.language not in {"", "text", "http", "mermaid", "sql"}


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for found in _BLOCK.finditer(text):
        word, value = found["word"], found["value"] or ""
        named = _FILE.match(found["body"])
        if word is None and named is not None:
            word, value = "file", named[1]
        yield Block(
            language=found["language"],
            body=found["body"],
            line=text.count("\n", 0, found.start("fence")) + 1,
            word=word,
            value=value,
        )


def commands(body: str) -> Iterator[Command]:
    """The lines after a prompt, each with what is shown below it."""
    text: str | None = None
    printed: list[str] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            if text is not None:
                yield Command(text=text, printed="\n".join(printed) or None)
            text, printed = line[2:], []
        elif text is not None and text.endswith("\\"):
            text = f"{text[:-1]}{line.strip()}"
        else:
            printed.append(line)
    if text is not None:
        yield Command(text=text, printed="\n".join(printed) or None)


def fits(printed: str, shown: str) -> bool:
    """Whether it is what the page shows, where … stands for anything."""
    parts = [re.escape(part) for part in shown.strip().split("…")]
    flat = [re.sub(r"(\\?\s)+", r"\\s+", part) for part in parts]
    return re.search(".*?".join(flat), printed, re.DOTALL) is not None
