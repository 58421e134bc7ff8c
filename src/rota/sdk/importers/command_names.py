"""Derives a job's name from a command line: the program or script that it runs."""

import re
from pathlib import PurePosixPath
from typing import Final

# Words that may precede the name of the program.
PREFIX_COMMANDS: Final = frozenset(
    """
    [ [[ test if then else fi ! exec command builtin cd . source set export umask ulimit sleep
    env nice ionice sudo su nohup setsid time timeout flock chronic systemd-cat true
    sh bash dash zsh ksh run-parts xargs rota
    """.split()  # noqa: SIM905 — shorter than a list of strings
)
WORD: Final = re.compile(r"""[^\s&|;()<>"'`]+""")
ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
COMMAND_SEPARATOR: Final = re.compile(r"&&|\|\||[;|{}]")
# An inline script, such as `python -c`.
INLINE_SCRIPT: Final = re.compile(
    r"\s*(?:\S*/)?(?:perl|python[23]?|php|ruby|node|sh|bash)\s+-[ecr]\b"
)
INTERPRETER: Final = re.compile(r"(?:php|python|ruby|perl|node|java)[\d.]*")
NUMBER: Final = re.compile(r"[\d.]+[smhd]?")


def derive_name(command: str) -> str:
    """The name: `cd /srv && php artisan schedule:run >> /dev/null` is `artisan schedule:run`."""
    for part in COMMAND_SEPARATOR.split(command):
        name = _name_of_part(part)
        if name:
            return name
    words = WORD.findall(command)
    return PurePosixPath(words[0]).name if words else "job"


def _name_of_part(part: str) -> str | None:
    if INLINE_SCRIPT.match(part):
        return None
    words = [word for word in WORD.findall(part.partition(">")[0]) if not ASSIGNMENT.match(word)]
    while words and words[0] in {"if", "then", "else", "elif", "do", "!"}:
        words.pop(0)
    if words and words[0] in {"cd", "[", "[[", "test", "sleep", "umask", "ulimit", "export", "set"}:
        return None
    rest = [word for word in words if not word.startswith("-")]
    for index, word in enumerate(rest):
        base = PurePosixPath(word).name or word
        if (
            base in PREFIX_COMMANDS
            or INTERPRETER.fullmatch(base)
            or NUMBER.fullmatch(base)
            or base.endswith(".lock")
        ):
            continue
        # A subcommand is part of the name: several lines often run the same script.
        following = rest[index + 1] if index + 1 < len(rest) else ""
        subcommand = following if re.fullmatch(r"[a-z][\w:.-]{1,40}", following) else ""
        return f"{base} {subcommand}".strip()
    return None
