"""Finds retired words and phrases in everything that people read.

Reads comments, docstrings and string literals of Python; comments of SQL; texts of the dashboard;
and the pages in docs/, which hold the rendered OpenAPI descriptions, settings and CLI help. A rule
is a pattern and what to write instead. tests/unit/tools/test_language.py breaks each rule once.
"""

from __future__ import annotations

import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Released migrations never change, so their comments keep the words they had.
LAST_MIGRATION_WITH_OLD_WORDS = 41


@dataclass(frozen=True, slots=True)
class RetiredPhrase:
    """`example` is a text that the pattern matches; the tests use it."""

    pattern: str
    instead: str
    example: str


RETIRED = (
    RetiredPhrase(
        r"unless (it is|they are|otherwise) (said|told|given)",
        '"Default: …"',
        "UTC unless it is said",
    ),
    RetiredPhrase(r"\bRoom: ", "nothing; the path says where a module is", "Room: core"),
    RetiredPhrase(r"\bdoor signs?\b", "module docstring", "its door sign"),
    RetiredPhrase(
        r"\bthe house('s)?\b|\bof the house\b",
        "the project, the architecture",
        "rules of the house",
    ),
    RetiredPhrase(
        r"\b(behind|through|raise) the wall\b|\bbehind_wall\b",
        "row-level security",
        "behind the wall",
    ),
    RetiredPhrase(
        r"(?<![\"'`])\b(somebody|nobody|whoever|whichever one|whomever)\b",
        "the actor: the worker, the caller …",
        "whoever takes it",
    ),
    RetiredPhrase(r"\bis not accepted\b", "is invalid: …", "'x' is not accepted; a name"),
    RetiredPhrase(
        r"\b(go|goes|went|gone|going) again\b", "retry, requeue, run again", "let it go again"
    ),
    RetiredPhrase(r"\bin vain\b", "without success, failed", "a look in vain"),
    RetiredPhrase(r"\b(is|are|was|were) to be had\b", "available", "no key is to be had"),
    RetiredPhrase(
        r"\b(is|are|was|were|be|been) told\b",
        "receives, is informed, is configured",
        "the worker is told",
    ),
    RetiredPhrase(
        r"\b(is|are|was|were) said\b", "is configured, is declared, states", "what is said above it"
    ),
    RetiredPhrase(r"\bthere (is|are|was|were) none\b", "no … exists", "why there is none"),
    RetiredPhrase(
        r"\bnone of ours\b|\bof ours\b|\bof our own\b", "invalid, own", "the cursor is none of ours"
    ),
    RetiredPhrase(
        r"\bfirst key of the platform\b", "bootstrap admin key", "the first key of the platform"
    ),
    RetiredPhrase(
        r"\b(may|can|must) stand (at|in|before|after|anywhere|where)\b",
        "may appear",
        "options may stand anywhere",
    ),
    RetiredPhrase(
        r"\bthe (crew|veil|rulebook|warden|mould)\b",
        "attempt pool, masking, schedule cache, supervisor, template",
        "the crew takes it",
    ),
    RetiredPhrase(
        r"\b(vouch|vouches|vouched|vouching)\b", "heartbeat", "the heartbeat vouches for it"
    ),
    RetiredPhrase(r"\bhow long it takes\b", "duration", "how long it takes"),
    RetiredPhrase(r"\bwhat took longest\b", "critical path", "what took longest"),
    RetiredPhrase(r"\bthat nobody foresaw\b|\bunforeseen\b", "unexpected", "an unforeseen error"),
    RetiredPhrase(r"\bby chance\b", "at random, randomly", "late by chance"),
    RetiredPhrase(r"\bNothing fits\b|\bNo \w+ fits\b", "No matches", "No job fits."),
    RetiredPhrase(r"\bat work\b", "active, running", "backfills at work"),
    RetiredPhrase(r"\brota\.within\b", "rota.in_transaction", "rota.within(conn)"),
)

# (path suffix, pattern): where a retired phrase is right, with the reason.
ALLOWED = {
    # The dump of released migrations.
    ("src/rota/store/schema.sql", r"\b(go|goes|went|gone|going) again\b"),
    # Keys of earlier releases have this name.
    ("src/rota/store/keys.py", r"\bfirst key of the platform\b"),
    # The deprecated alias and its documentation name it.
    ("src/rota/sdk/transaction/submitter.py", r"\brota\.within\b"),
    ("CHANGELOG.md", r"\brota\.within\b"),
    ("docs/howto/submit-in-a-transaction.md", r"\brota\.within\b"),
    ("docs/explanation/compatibility.md", r"\brota\.within\b"),
}


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text that people read."""

    path: str
    line: int
    text: str


def check_text(text: Text) -> Iterator[str]:
    for phrase in RETIRED:
        if any(text.path.endswith(path) and phrase.pattern == allowed for path, allowed in ALLOWED):
            continue
        found = re.search(phrase.pattern, text.text, re.IGNORECASE)
        if found is not None:
            yield f"{text.path}:{text.line}: “{found[0]}”; write {phrase.instead}"


def read_python(path: str, source: str) -> Iterator[Text]:
    """Comments, docstrings and string literals, line by line."""
    kinds = {tokenize.COMMENT, tokenize.STRING}
    kinds |= {getattr(tokenize, name) for name in ("FSTRING_MIDDLE",) if hasattr(tokenize, name)}
    for token in tokenize.generate_tokens(StringIO(source).readline):
        if token.type in kinds:
            for offset, line in enumerate(token.string.splitlines()):
                yield Text(path, token.start[0] + offset, line)


def read_lines(path: str, source: str) -> Iterator[Text]:
    for number, line in enumerate(source.splitlines(), 1):
        yield Text(path, number, line)


def read_sql_comments(path: str, source: str) -> Iterator[Text]:
    for text in read_lines(path, source):
        comment = text.text.partition("--")[2]
        if comment:
            yield Text(path, text.line, comment)


def collect_texts(root: Path) -> Iterator[Text]:
    for path in sorted(
        [*root.glob("src/**/*.py"), *root.glob("tools/**/*.py"), *root.glob("examples/**/*.py")]
    ):
        if path.name != "language.py":
            yield from read_python(str(path.relative_to(root)), path.read_text())
    for path in sorted(root.glob("src/**/*.sql")):
        number = path.name.split("_")[0]
        if not (number.isdigit() and int(number) <= LAST_MIGRATION_WITH_OLD_WORDS):
            yield from read_sql_comments(str(path.relative_to(root)), path.read_text())
    pages = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/**/*.md")]
    dashboard = [*root.glob("web/src/**/*.ts"), *root.glob("web/src/**/*.tsx")]
    for path in sorted([*pages, *dashboard, *root.glob("Makefile")]):
        yield from read_lines(str(path.relative_to(root)), path.read_text())


def main(paths: list[str]) -> int:
    """Check the whole project, or only files whose path begins with one of `paths`."""
    found = [
        problem
        for text in collect_texts(ROOT)
        if not paths or text.path.startswith(tuple(paths))
        for problem in check_text(text)
    ]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
