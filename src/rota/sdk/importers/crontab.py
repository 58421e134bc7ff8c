"""Imports crontabs of users and of the system.

Follows crontab(5) of Vixie cron and cronie: environment lines and CRON_TZ apply to the lines below
them, an unescaped `%` ends the command and begins its standard input, and a line of a system
crontab names a user. As in Rota, a match of either day field is enough.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.core.submissions import LABEL_CHARACTERS_MAX
from rota.core.time import zones
from rota.sdk.importers.command_names import derive_name
from rota.sdk.importers.import_result import ImportedJobs
from rota.sdk.jobs_as_code.manifest_writer import ManifestJobText

DEFAULT_SHELL: Final = "/bin/sh"
SETTING: Final = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z_]\w*))\s*=\s*(.*)""")
SCHEDULE_FIELD_COUNT: Final = 5
RANDOM_RANGE: Final = re.compile(r"(\d*)~(\d*)")
# Comment lines that explain the columns.
COLUMN_LEGEND: Final = re.compile(
    r"""[\s|.*+'`,─┬┌│-]*"""
    r"""(?:(?:m\s+h\s+|(?:minute|hour|month|day\s+of\s+\w+)\s*\(|command\s+to|user-?name).*)?""",
    re.IGNORECASE,
)
# Variables that cron itself reads; they are not passed to the command.
CRON_VARIABLES: Final = frozenset(
    {"CRON_TZ", "MAILTO", "MAILFROM", "SHELL", "RANDOM_DELAY", "CONTENT_TYPE"}
)
MAIL_LABEL: Final = "mailto"
ADDRESSES_MAX: Final = 8
CHANNEL_CHARACTERS_MAX: Final = 100
# As cron does: it mails about every failure.
MAIL_EXPECT: Final[Mapping[str, Any]] = {"failures": {"streak": 1}}
# Variables that a payload may not set, because they make an allowed program load other code.
FORBIDDEN_VARIABLES: Final = re.compile(r"LD_|DYLD_|GLIBC_TUNABLES$|GCONV_PATH$|ROTA_")
# As cron does: no overlap check, no retries, no timeout.
CRON_JOB_DEFAULTS: Final[Mapping[str, Any]] = {
    "kind": "shell",
    "retries": 0,
    "timeout": "none",
    "overlap": "allow",
}


@dataclass(slots=True)
class _State:
    """The settings of the lines so far that apply to the lines below."""

    zone: str | None
    env: dict[str, str] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crontab:
    """Describes a crontab. `zone` is the time zone of its machine."""

    file: str
    is_system: bool
    zone: str


def create_result(zone: str, now: datetime) -> ImportedJobs:
    """Create an empty result for crontabs, with defaults that match cron's behaviour."""
    return ImportedJobs(now=now, defaults={**CRON_JOB_DEFAULTS, "timezone": zone})


def import_crontab(text: str, crontab: Crontab, result: ImportedJobs) -> None:
    """Add the jobs of a crontab; lines with errors are skipped and reported."""
    state = _State(zone=crontab.zone)
    for number, raw in enumerate(text.split("\n"), start=1):
        place, line = f"{crontab.file}:{number}", raw.strip()
        try:
            _line(line, state, result, place, is_system=crontab.is_system)
        except InvalidInput as error:
            result.skip_entry(place, f"{error.wanted} ({line[:80]})")
            state.comments.clear()


def _line(line: str, state: _State, found: ImportedJobs, place: str, *, is_system: bool) -> None:
    if not line:
        # A comment above an empty line describes the file, not the next command.
        state.comments.clear()
    elif line.startswith("#"):
        comment = line.lstrip("#").strip()
        if COLUMN_LEGEND.fullmatch(comment):
            state.comments.clear()
        else:
            state.comments.append(comment)
    elif setting := SETTING.fullmatch(line):
        _set(setting, state, found, place)
    else:
        found.jobs.append(_job(line, state, found, place, is_system=is_system))
        state.comments.clear()


def _set(setting: re.Match[str], state: _State, found: ImportedJobs, place: str) -> None:
    name = setting[1] or setting[2] or setting[3]
    value = setting[4].strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    if name == "CRON_TZ":
        # Lines below an unknown zone are skipped.
        state.zone = None
        zones.get_zone(value)
        state.zone = value
    elif name == "MAILTO" and value:
        _refuse_long(split_addresses(value), found, place)
        if addresses := _list_addresses(value):
            channel = name_mail_channel(addresses)
            found.channels[channel] = ",".join(addresses)
            found.add_note(
                place,
                f"MAILTO becomes an alert at every failure, to the channel {channel}; add "
                f"{describe_mail_channel(channel, addresses)} to the settings of the schedulers",
            )
    elif FORBIDDEN_VARIABLES.match(name):
        found.add_note(place, f"{name} is not imported: jobs may not set it")
        return
    state.env[name] = value


def _job(
    line: str, state: _State, found: ImportedJobs, place: str, *, is_system: bool
) -> ManifestJobText:
    expression, rest = _split(line.removeprefix("-"))
    schedule = _schedule(_spread(expression, found, place), state, found)
    user, comments = None, list(state.comments)
    if is_system:
        user, _, rest = rest.partition(" ") if " " in rest else (rest, "", "")
        rest = rest.strip()
    if not rest:
        missing = "a user and a command" if is_system else "a command"
        raise InvalidInput("line", line, f"expected a schedule followed by {missing}")
    if user is not None:
        found.add_note(place, f"jobs of {user} run as the worker's user, not as {user}")
        comments.append(f"as {user}")
    command, stdin = _command(rest)
    body: dict[str, Any] = {"schedule": schedule, "payload": _payload(command, stdin, state)}
    if addresses := _list_addresses(state.env.get("MAILTO", "")):
        body["labels"] = _mail_labels(addresses)
        body["expect"] = dict(MAIL_EXPECT)
        body["alert"] = {"to": name_mail_channel(addresses)}
    return ManifestJobText(found.claim_name(derive_name(command)), body, comments)


def _split(line: str) -> tuple[str, str]:
    """Split a line into the schedule and the rest."""
    count = 1 if line.startswith("@") else SCHEDULE_FIELD_COUNT
    words = line.split(maxsplit=count)
    expression = " ".join(words[:count])
    if len(words[:count]) < count:
        wanted = f"expected {SCHEDULE_FIELD_COUNT} schedule fields, or a name such as @daily"
        raise InvalidInput("line", line, wanted)
    return expression, re.sub(r"\s+", " ", words[count], count=1) if len(words) > count else ""


def _spread(expression: str, found: ImportedJobs, place: str) -> str:
    """Replace random times such as `10~30`, which cron draws when it starts, by Rota's `H`."""
    if "~" not in expression:
        return expression
    found.add_note(place, "a random time (~) becomes a fixed time derived from the job (H)")
    limits = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))

    def replace(match: re.Match[str], low: int, high: int) -> str:
        first, last = match[1] or str(low), match[2] or str(high)
        return "H" if not match[1] and not match[2] else f"H({first}-{last})"

    fields = []
    for word, (low, high) in zip(expression.split(), limits, strict=True):
        fields.append(RANDOM_RANGE.sub(lambda m, low=low, high=high: replace(m, low, high), word))  # type: ignore[misc]
    return " ".join(fields)


def _schedule(expression: str, state: _State, found: ImportedJobs) -> Any:
    """The schedule; only the expression if everything else equals the file's defaults."""
    if state.zone is None:
        raise InvalidInput("CRON_TZ", None, "the CRON_TZ above this line is not a known time zone")
    schedule: dict[str, Any] = {"cron": expression, "timezone": state.zone}
    delay = state.env.get("RANDOM_DELAY", "")
    if delay.isdigit() and int(delay):
        schedule["jitter"] = f"{int(delay)}m"
    found.check_schedule(schedule)
    if state.zone == found.defaults["timezone"]:
        schedule.pop("timezone")
    return expression if len(schedule) == 1 else schedule


def _command(text: str) -> tuple[str, str | None]:
    """The command and its standard input: an unescaped `%` is a line break."""
    parts = re.split(r"(?<!\\)%", text)
    command, *lines = [part.replace("\\%", "%") for part in parts]
    if not lines:
        return command.strip(), None
    stdin = "\n".join(lines)
    return command.strip(), stdin if stdin.endswith("\n") else f"{stdin}\n"


def split_addresses(value: str) -> list[str]:
    """The addresses of a MAILTO, separated by commas."""
    return [address.strip() for address in value.split(",") if address.strip()]


def _list_addresses(value: str) -> list[str]:
    """The addresses of a MAILTO that are imported."""
    return [address for address in split_addresses(value) if _fits(address)][:ADDRESSES_MAX]


def _mail_labels(addresses: list[str]) -> dict[str, str]:
    """Labels with the recipients of alerts: `mailto` for the first address, then `mailto.2` …."""
    names = (MAIL_LABEL if number == 1 else f"{MAIL_LABEL}.{number}" for number in count(1))
    return dict(zip(names, addresses, strict=False))


def name_mail_channel(addresses: list[str]) -> str:
    """The name of the channel that mails to these addresses, a bare key of TOML."""
    words = (re.sub(r"[^A-Za-z0-9]+", "-", address).strip("-").lower() for address in addresses)
    return "-".join(["mail", *words])[:CHANNEL_CHARACTERS_MAX].rstrip("-")


def describe_mail_channel(channel: str, addresses: list[str]) -> str:
    """The section of rota.toml that defines the channel; user, password and host are to fill in."""
    to = ",".join(addresses)
    return (
        f'[channels.{channel}] url = "mailtos://USER:PASSWORD@HOST?to={to}", tenants = ["default"]'
    )


def _fits(address: str) -> bool:
    return len(address) <= LABEL_CHARACTERS_MAX and address.isprintable()


def _refuse_long(addresses: list[str], found: ImportedJobs, place: str) -> None:
    lost = [address for address in addresses if not _fits(address)]
    lost += [address for address in addresses if _fits(address)][ADDRESSES_MAX:]
    if lost:
        limit = f"at most {ADDRESSES_MAX} addresses of {LABEL_CHARACTERS_MAX} characters are kept"
        found.add_note(place, f"{limit}; not kept: {', '.join(lost)[:200]}")


def _payload(command: str, stdin: str | None, state: _State) -> dict[str, Any]:
    payload: dict[str, Any] = {"argv": [state.env.get("SHELL") or DEFAULT_SHELL, "-c", command]}
    env = {name: value for name, value in state.env.items() if name not in CRON_VARIABLES}
    if env:
        payload["env"] = env
    if state.env.get("HOME", "").startswith("/"):
        payload["cwd"] = state.env["HOME"]
    if stdin is not None:
        payload["stdin"] = stdin
    return payload
