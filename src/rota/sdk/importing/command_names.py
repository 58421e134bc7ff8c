"""What a command line is called: the program or script it is about. Room: sdk/importing."""

import re
from pathlib import PurePosixPath
from typing import Final

# What stands before the program that is meant.
AROUND: Final = frozenset(
    """
    [ [[ test if then else fi ! exec command builtin cd . source set export umask ulimit sleep
    env nice ionice sudo su nohup setsid time timeout flock chronic systemd-cat true
    sh bash dash zsh ksh run-parts xargs rota
    """.split()  # noqa: SIM905 — a list of fifty would be a page
)
WORD: Final = re.compile(r"""[^\s&|;()<>"'`]+""")
ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
PART: Final = re.compile(r"&&|\|\||[;|{}]")
# A program that is written on the line itself.
INLINE: Final = re.compile(r"\s*(?:\S*/)?(?:perl|python[23]?|php|ruby|node|sh|bash)\s+-[ecr]\b")
INTERPRETER: Final = re.compile(r"(?:php|python|ruby|perl|node|java)[\d.]*")
NUMBER: Final = re.compile(r"[\d.]+[smhd]?")


def name_of(command: str) -> str:
    """`cd /srv && php artisan schedule:run >> /dev/null` is `artisan schedule:run`."""
    for part in PART.split(command):
        found = _of_part(part)
        if found:
            return found
    words = WORD.findall(command)
    return PurePosixPath(words[0]).name if words else "job"


def _of_part(part: str) -> str | None:
    if INLINE.match(part):
        return None
    words = [word for word in WORD.findall(part.partition(">")[0]) if not ASSIGNMENT.match(word)]
    while words and words[0] in {"if", "then", "else", "elif", "do", "!"}:
        words.pop(0)
    if words and words[0] in {"cd", "[", "[[", "test", "sleep", "umask", "ulimit", "export", "set"}:
        return None
    rest = [word for word in words if not word.startswith("-")]
    for place, word in enumerate(rest):
        base = PurePosixPath(word).name or word
        if (
            base in AROUND
            or INTERPRETER.fullmatch(base)
            or NUMBER.fullmatch(base)
            or base.endswith(".lock")
        ):
            continue
        # What a script is told to do belongs to its name: one script often has several lines.
        more = rest[place + 1] if place + 1 < len(rest) else ""
        told = more if re.fullmatch(r"[a-z][\w:.-]{1,40}", more) else ""
        return f"{base} {told}".strip()
    return None
