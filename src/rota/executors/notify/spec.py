"""Turns the payload of a message into letters. Room: executors/notify.

The fields are those of `NotifyPayload`. What is filled into HTML or Markdown is escaped, the text
around it is not: the author of a job writes the one, and anybody may be the source of the other.
"""

import html
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from rota.contract.payloads.notify import TITLE_CHARACTERS_MAX, NotifyPayload
from rota.contract.payloads.reading import read_payload
from rota.core.errors import InvalidInput
from rota.core.executor import Context
from rota.core.tenancy import DEFAULT_TENANT, refuse_resource
from rota.core.time import moments
from rota.executors.notify.template import NAME, NAME_WANTED, Template, parse

# What every message may name beside its own values.
FACTS: Final = ("run_id", "job_id", "attempt", "scheduled_at")
# As long as any of them is written.
LONGEST_FACT: Final = 64
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


def read_message(
    payload: object, channels: Mapping[str, bool], tenant: str = DEFAULT_TENANT
) -> Message:
    """`channels` are those that are open to the tenant, each with whether a payload may say whom
    it goes to.
    """
    given = read_payload(NotifyPayload, payload, example='{"channel": "ops", "body": "done"}')
    if not given.body.strip():
        raise InvalidInput("body", given.body, "a text that is not blank")
    chosen = _check_channels(given.channel, channels, tenant)
    values = _spell_values(given.values)
    known = (*values, *FACTS)
    message = Message(
        channels=chosen,
        title=parse(given.title, field="title", known=known),
        body=parse(given.body, field="body", known=known),
        values=values,
        format=given.format,
        level=given.level,
        to=_check_recipients(given.to, chosen, channels),
    )
    _refuse_long(message)
    return message


def _check_channels(
    value: str | list[str], known: Mapping[str, bool], tenant: str
) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    for name in names:
        if name not in known:
            setting = "executors.channels.NAME.tenants"
            raise refuse_resource("channel", name, tenant=tenant, available=known, setting=setting)
    return tuple(dict.fromkeys(names))


def _spell_values(values: Mapping[str, str | float | None]) -> dict[str, str]:
    for name, value in values.items():
        if NAME.fullmatch(name) is None:
            raise InvalidInput("values", name, NAME_WANTED)
        if name in FACTS:
            raise InvalidInput(f"values.{name}", value, "another name: Rota fills this one in")
    return {name: spelling(value) for name, value in values.items()}


def spelling(value: str | float | None) -> str:
    """A value as a reader expects it: nothing for null, `true` and not `True`."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _check_recipients(
    value: str | list[str] | None, chosen: tuple[str, ...], channels: Mapping[str, bool]
) -> tuple[str, ...]:
    if value is None:
        return ()
    addresses = [value] if isinstance(value, str) else value
    for address in addresses:
        if ADDRESS.fullmatch(address) is None:
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
        ("title", message.title.size(plain), TITLE_CHARACTERS_MAX),
        ("body", message.body.size(escaped), LONGEST_BODY),
    ):
        if size > most:
            wanted = f"at most {most} characters with its values filled in"
            raise InvalidInput(name, f"{size} characters", wanted)
