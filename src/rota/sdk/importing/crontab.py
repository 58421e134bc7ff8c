"""Reads crontabs: those of users and those of the system. Room: sdk/importing.

As crontab(5) of Vixie cron and cronie have it: environment lines hold for the lines below them,
CRON_TZ is the zone of the lines below, an unescaped `%` ends the command and begins its input, a
line of the system has a user. The rule that either day field is enough is Rota's own as well.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.core.submission import MOST_LABEL
from rota.core.time import zones
from rota.sdk.code.writing import Written
from rota.sdk.importing.command_names import name_of
from rota.sdk.importing.imported import Imported

SHELL: Final = "/bin/sh"
SETTING: Final = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z_]\w*))\s*=\s*(.*)""")
FIELDS: Final = 5
RANDOM: Final = re.compile(r"(\d*)~(\d*)")
# Lines that explain the columns to whoever edits the file.
LEGEND: Final = re.compile(
    r"""[\s|.*+'`,─┬┌│-]*"""
    r"""(?:(?:m\s+h\s+|(?:minute|hour|month|day\s+of\s+\w+)\s*\(|command\s+to|user-?name).*)?""",
    re.IGNORECASE,
)
# Read by cron, and not for the command.
OURS: Final = frozenset({"CRON_TZ", "MAILTO", "MAILFROM", "SHELL", "RANDOM_DELAY", "CONTENT_TYPE"})
MAIL_LABEL: Final = "mailto"
ADDRESSES_MAX: Final = 8
# What a payload may not set: an allowed program would load code of its choice.
LOADER: Final = re.compile(r"LD_|DYLD_|GLIBC_TUNABLES$|GCONV_PATH$|ROTA_")
# cron starts it whatever happens, does not try again, and waits for ever.
AS_CRON: Final[Mapping[str, Any]] = {
    "kind": "shell",
    "retries": 0,
    "timeout": "none",
    "overlap": "allow",
}


@dataclass(slots=True)
class _State:
    """What the lines so far say about those below."""

    zone: str | None
    env: dict[str, str] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crontab:
    """How to read one. `zone` is the clock of the machine that it was on."""

    file: str
    is_system: bool
    zone: str


def empty(zone: str, now: datetime) -> Imported:
    """What crontabs are read into: their jobs run as cron would run them."""
    return Imported(now=now, defaults={**AS_CRON, "timezone": zone})


def read(text: str, how: Crontab, found: Imported) -> None:
    """Add the jobs of a crontab; a line that is wrong is left out, and the others are not."""
    state = _State(zone=how.zone)
    for number, raw in enumerate(text.split("\n"), start=1):
        place, line = f"{how.file}:{number}", raw.strip()
        try:
            _line(line, state, found, place, is_system=how.is_system)
        except InvalidInput as error:
            found.leave_out(place, f"{error.wanted} ({line[:80]})")
            state.comments.clear()


def _line(line: str, state: _State, found: Imported, place: str, *, is_system: bool) -> None:
    if not line:
        # A comment above an empty line is about the file, not about the next command.
        state.comments.clear()
    elif line.startswith("#"):
        said = line.lstrip("#").strip()
        if LEGEND.fullmatch(said):
            state.comments.clear()
        else:
            state.comments.append(said)
    elif setting := SETTING.fullmatch(line):
        _set(setting, state, found, place)
    else:
        found.jobs.append(_job(line, state, found, place, is_system=is_system))
        state.comments.clear()


def _set(setting: re.Match[str], state: _State, found: Imported, place: str) -> None:
    name = setting[1] or setting[2] or setting[3]
    value = setting[4].strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    if name == "CRON_TZ":
        # The lines below a zone that does not exist are nobody's time.
        state.zone = None
        zones.zone(value)
        state.zone = value
    elif name == "MAILTO" and value:
        found.note(place, f"MAILTO is kept as the label {MAIL_LABEL} of each job; no mail is sent")
        _refuse_long(addresses_of(value), found, place)
    elif LOADER.match(name):
        found.note(place, f"{name} is not carried over: a job may not set it")
        return
    state.env[name] = value


def _job(line: str, state: _State, found: Imported, place: str, *, is_system: bool) -> Written:
    expression, rest = _split(line.removeprefix("-"))
    schedule = _schedule(_spread(expression, found, place), state, found)
    user, comments = None, list(state.comments)
    if is_system:
        user, _, rest = rest.partition(" ") if " " in rest else (rest, "", "")
        rest = rest.strip()
    if not rest:
        wanted = "a user and a command" if is_system else "a command"
        raise InvalidInput("line", line, f"a line has a schedule and {wanted}")
    if user is not None:
        found.note(place, f"jobs of {user} run as the user of the worker, not as {user}")
        comments.append(f"as {user}")
    command, stdin = _command(rest)
    body: dict[str, Any] = {"schedule": schedule, "payload": _payload(command, stdin, state)}
    if labels := _mail_labels(state):
        body["labels"] = labels
    return Written(found.name(name_of(command)), body, comments)


def _split(line: str) -> tuple[str, str]:
    """The schedule, and what follows it."""
    count = 1 if line.startswith("@") else FIELDS
    words = line.split(maxsplit=count)
    expression = " ".join(words[:count])
    if len(words[:count]) < count:
        raise InvalidInput("line", line, f"a line begins with {FIELDS} fields, or @daily and such")
    return expression, re.sub(r"\s+", " ", words[count], count=1) if len(words) > count else ""


def _spread(expression: str, found: Imported, place: str) -> str:
    """`10~30` is a time by chance, drawn when cron starts; here it is one of the job's own."""
    if "~" not in expression:
        return expression
    found.note(place, "a time by chance (~) becomes a fixed one of the job's own (H)")
    limits = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))

    def drawn(match: re.Match[str], low: int, high: int) -> str:
        first, last = match[1] or str(low), match[2] or str(high)
        return "H" if not match[1] and not match[2] else f"H({first}-{last})"

    fields = []
    for word, (low, high) in zip(expression.split(), limits, strict=True):
        fields.append(RANDOM.sub(lambda m, low=low, high=high: drawn(m, low, high), word))  # type: ignore[misc]
    return " ".join(fields)


def _schedule(expression: str, state: _State, found: Imported) -> Any:
    """The schedule; only its expression if the rest is as the file's defaults have it."""
    if state.zone is None:
        raise InvalidInput("CRON_TZ", None, "a zone that exists in the CRON_TZ above it")
    schedule: dict[str, Any] = {"cron": expression, "timezone": state.zone}
    delay = state.env.get("RANDOM_DELAY", "")
    if delay.isdigit() and int(delay):
        schedule["jitter"] = f"{int(delay)}m"
    found.checked(schedule)
    if state.zone == found.defaults["timezone"]:
        schedule.pop("timezone")
    return expression if len(schedule) == 1 else schedule


def _command(text: str) -> tuple[str, str | None]:
    """The command and its input: `%` is the end of a line unless it is escaped."""
    parts = re.split(r"(?<!\\)%", text)
    command, *lines = [part.replace("\\%", "%") for part in parts]
    if not lines:
        return command.strip(), None
    stdin = "\n".join(lines)
    return command.strip(), stdin if stdin.endswith("\n") else f"{stdin}\n"


def addresses_of(value: str) -> list[str]:
    """The addresses of a MAILTO: one, or several with commas."""
    return [each.strip() for each in value.split(",") if each.strip()]


def _mail_labels(state: _State) -> dict[str, str]:
    """Who is to be told, for alerts: the first address as `mailto`, then `mailto.2` and so on."""
    kept = [each for each in addresses_of(state.env.get("MAILTO", "")) if _fits(each)]
    names = (MAIL_LABEL if place == 1 else f"{MAIL_LABEL}.{place}" for place in count(1))
    return dict(zip(names, kept[:ADDRESSES_MAX], strict=False))


def _fits(address: str) -> bool:
    return len(address) <= MOST_LABEL and address.isprintable()


def _refuse_long(addresses: list[str], found: Imported, place: str) -> None:
    lost = [each for each in addresses if not _fits(each)]
    lost += [each for each in addresses if _fits(each)][ADDRESSES_MAX:]
    if lost:
        limit = f"at most {ADDRESSES_MAX} addresses of {MOST_LABEL} characters are kept"
        found.note(place, f"{limit}, so these are not: {', '.join(lost)[:200]}")


def _payload(command: str, stdin: str | None, state: _State) -> dict[str, Any]:
    payload: dict[str, Any] = {"argv": [state.env.get("SHELL") or SHELL, "-c", command]}
    env = {name: value for name, value in state.env.items() if name not in OURS}
    if env:
        payload["env"] = env
    if state.env.get("HOME", "").startswith("/"):
        payload["cwd"] = state.env["HOME"]
    if stdin is not None:
        payload["stdin"] = stdin
    return payload
