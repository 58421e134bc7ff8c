"""What the payload of a message may say. Room: executors/notify.

    {"channel": ["ops", "oncall"], "title": "Backup of {database}", "body": "{rows} rows",
     "values": {"database": "shop", "rows": 7}, "format": "text", "level": "success",
     "to": ["ada@example.org"]}

Only reads and refuses. What is filled into HTML or Markdown is escaped, the text around it is not:
the author of a job writes the one, and anybody may be the source of the other.
"""

import html
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from rota.core.errors import InvalidInput
from rota.core.executor import Context
from rota.core.time import moments
from rota.executors.notify.template import NAME, NAME_WANTED, Template, parse

KNOWN: Final = ("channel", "title", "body", "values", "format", "level", "to")
LEVELS: Final = ("info", "success", "warning", "failure")
# What every message may name beside its own values.
FACTS: Final = ("run_id", "job_id", "attempt", "scheduled_at")
# As long as any of them is written.
LONGEST_FACT: Final = 64
MOST_CHANNELS: Final = 16
MOST_VALUES: Final = 100
MOST_RECIPIENTS: Final = 100
LONGEST_TITLE: Final = 250
LONGEST_BODY: Final = 256 * 1024
# Narrower than what mail allows: nothing here can end a header or begin another address.
ADDRESS = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)*[A-Za-z0-9-]{1,63}", re.ASCII
)


def as_it_is(text: str) -> str:
    return text


def for_markdown(text: str) -> str:
    """Markdown passes HTML on, so that a value could bring its own."""
    return re.sub(r"([\\`*_\[\]])", r"\\\1", html.escape(text, quote=False))


ESCAPES: Final[Mapping[str, Callable[[str], str]]] = {
    "text": as_it_is,
    "markdown": for_markdown,
    "html": html.escape,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A message as it is sent. The title is plain text in every format."""

    title: str
    body: str
    format: str
    level: str
    to: tuple[str, ...]
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message before the facts of its run are filled in."""

    channels: tuple[str, ...]
    title: Template
    body: Template
    values: Mapping[str, str]
    format: str
    level: str
    to: tuple[str, ...]

    def letter(self, context: Context) -> Letter:
        values = {**self.values, **facts_of(context)}
        escape = ESCAPES[self.format]
        return Letter(
            # A line end in a value must not end the line of a subject.
            title=" ".join(self.title.fill(values).split()),
            body=self.body.fill({name: escape(value) for name, value in values.items()}),
            format=self.format,
            level=self.level,
            to=self.to,
            key=context.idempotency_key,
        )


def facts_of(context: Context) -> dict[str, str]:
    facts: dict[str, UUID | int | datetime] = {
        "run_id": context.run_id,
        "job_id": context.job_id,
        "attempt": context.attempt,
        "scheduled_at": context.scheduled_at,
    }
    return {
        name: moments.rfc3339(fact) if isinstance(fact, datetime) else str(fact)
        for name, fact in facts.items()
    }


def read_message(payload: object, channels: Mapping[str, bool]) -> Message:
    """`channels` are those there are, each with whether a payload may say whom it goes to."""
    if not isinstance(payload, Mapping):
        wanted = 'an object such as {"channel": "ops", "body": "done"}'
        raise InvalidInput("payload", payload, wanted)
    for key in payload:
        if key not in KNOWN:
            raise InvalidInput(f"payload.{key}", payload[key], f"one of {', '.join(KNOWN)}")
    chosen = _channels(payload.get("channel"), channels)
    format_ = _choice(payload, "format", tuple(ESCAPES))
    values = _values(payload.get("values"))
    known = (*values, *FACTS)
    message = Message(
        channels=chosen,
        title=parse(_text(payload, "title", default=""), field="title", known=known),
        body=parse(_text(payload, "body"), field="body", known=known),
        values=values,
        format=format_,
        level=_choice(payload, "level", LEVELS),
        to=_recipients(payload.get("to"), chosen, channels),
    )
    _refuse_long(message)
    return message


def _channels(value: object, known: Mapping[str, bool]) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not 1 <= len(names) <= MOST_CHANNELS:
        wanted = f"the name of a channel, or a list of 1 to {MOST_CHANNELS}"
        raise InvalidInput("channel", value, wanted)
    for name in names:
        if not isinstance(name, str) or name not in known:
            wanted = f"a channel that this worker knows: {', '.join(sorted(known))}"
            raise InvalidInput("channel", name, wanted)
    return tuple(dict.fromkeys(names))


def _text(payload: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = payload.get(key, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise InvalidInput(key, value, "a text")
    return value


def _choice(payload: Mapping[str, Any], key: str, choices: tuple[str, ...]) -> str:
    value = payload.get(key, choices[0])
    if value not in choices:
        raise InvalidInput(key, value, f"one of {', '.join(choices)}")
    return str(value)


def _values(value: object) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or len(value) > MOST_VALUES:
        raise InvalidInput("values", value, f"an object of at most {MOST_VALUES} values")
    for name, one in value.items():
        if not isinstance(name, str) or NAME.fullmatch(name) is None:
            raise InvalidInput("values", name, NAME_WANTED)
        if name in FACTS:
            raise InvalidInput(f"values.{name}", one, "another name: Rota fills this one in")
        if not isinstance(one, str | int | float | None):
            raise InvalidInput(f"values.{name}", one, "a text, a number, true, false or null")
    return {name: spelling(one) for name, one in value.items()}


def spelling(value: str | float | None) -> str:
    """A value as a reader expects it: nothing for null, `true` and not `True`."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _recipients(
    value: object, chosen: tuple[str, ...], channels: Mapping[str, bool]
) -> tuple[str, ...]:
    if value is None:
        return ()
    addresses = [value] if isinstance(value, str) else value
    if not isinstance(addresses, list | tuple) or not 1 <= len(addresses) <= MOST_RECIPIENTS:
        raise InvalidInput("to", value, f"a list of 1 to {MOST_RECIPIENTS} e-mail addresses")
    for address in addresses:
        if not isinstance(address, str) or ADDRESS.fullmatch(address) is None:
            raise InvalidInput("to", address, "an e-mail address such as ada@example.org")
    if closed := [name for name in chosen if not channels[name]]:
        wanted = f"channels that the operator has given allow_to = true; {closed[0]} has not"
        raise InvalidInput("to", value, wanted)
    return tuple(dict.fromkeys(addresses))


def _refuse_long(message: Message) -> None:
    escape = ESCAPES[message.format]
    facts = dict.fromkeys(FACTS, LONGEST_FACT)
    plain = {name: len(value) for name, value in message.values.items()} | facts
    escaped = {name: len(escape(value)) for name, value in message.values.items()} | facts
    for name, size, most in (
        ("title", message.title.size(plain), LONGEST_TITLE),
        ("body", message.body.size(escaped), LONGEST_BODY),
    ):
        if size > most:
            wanted = f"at most {most} characters with its values filled in"
            raise InvalidInput(name, f"{size} characters", wanted)
