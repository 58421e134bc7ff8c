"""Parses the payload of a notification into a message, and renders the message for a run.

`NotifyPayload` defines the fields. Values filled into HTML or Markdown are escaped, because they
may come from anywhere. The text around them is not escaped: the job's author wrote it.
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
from rota.contract.payloads.reader import read_payload
from rota.core.errors import InvalidInput
from rota.core.executor import AttemptContext
from rota.core.tenancy import DEFAULT_TENANT, build_resource_error
from rota.core.time import moments
from rota.executors.notify.template import (
    VALUE_NAME,
    VALUE_NAME_EXPECTED,
    MessageTemplate,
    parse_template,
)

# Names that every message may use in addition to its own values.
RUN_FACTS: Final = ("run_id", "job_id", "attempt", "scheduled_at")
# Upper bound of the length of any fact, in characters.
FACT_MAX_CHARACTERS: Final = 64
BODY_MAX_CHARACTERS: Final = 256 * 1024
# Stricter than the mail standard: no character can end a header or begin another address.
MAIL_ADDRESS = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)*[A-Za-z0-9-]{1,63}", re.ASCII
)


def keep_text(text: str) -> str:
    return text


def escape_markdown(text: str) -> str:
    """Escape Markdown and HTML: Markdown passes HTML through."""
    return re.sub(r"([\\`*_\[\]])", r"\\\1", html.escape(text, quote=False))


ESCAPES: Final[Mapping[str, Callable[[str], str]]] = {
    "text": keep_text,
    "markdown": escape_markdown,
    "html": html.escape,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedMessage:
    """A rendered message. The title is plain text in every format."""

    title: str
    body: str
    format: str
    level: str
    to: tuple[str, ...]
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyMessage:
    """A parsed message, before the facts of its run are filled in."""

    channels: tuple[str, ...]
    title: MessageTemplate
    body: MessageTemplate
    values: Mapping[str, str]
    format: str
    level: str
    to: tuple[str, ...]

    def render(self, context: AttemptContext) -> RenderedMessage:
        values = {**self.values, **render_facts(context)}
        escape = ESCAPES[self.format]
        return RenderedMessage(
            # A line break in a value must not end the subject line.
            title=" ".join(self.title.fill(values).split()),
            body=self.body.fill({name: escape(value) for name, value in values.items()}),
            format=self.format,
            level=self.level,
            to=self.to,
            key=context.idempotency_key,
        )


def render_facts(context: AttemptContext) -> dict[str, str]:
    facts: dict[str, UUID | int | datetime] = {
        "run_id": context.run_id,
        "job_id": context.job_id,
        "attempt": context.attempt,
        "scheduled_at": context.scheduled_at,
    }
    return {
        name: moments.to_rfc3339(fact) if isinstance(fact, datetime) else str(fact)
        for name, fact in facts.items()
    }


def read_message(
    payload: object, channels: Mapping[str, bool], tenant: str = DEFAULT_TENANT
) -> NotifyMessage:
    """Parse a payload; `channels` maps the tenant's channels to whether they accept recipients."""
    fields = read_payload(NotifyPayload, payload, example='{"channel": "ops", "body": "done"}')
    if not fields.body.strip():
        raise InvalidInput("body", fields.body, "must not be blank")
    names = _check_channels(fields.channel, channels, tenant)
    values = _spell_values(fields.values)
    known = (*values, *RUN_FACTS)
    message = NotifyMessage(
        channels=names,
        title=parse_template(fields.title, field="title", known=known),
        body=parse_template(fields.body, field="body", known=known),
        values=values,
        format=fields.format,
        level=fields.level,
        to=_check_recipients(fields.to, names, channels),
    )
    _refuse_long(message)
    return message


def _check_channels(
    value: str | list[str], known: Mapping[str, bool], tenant: str
) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    for name in names:
        if name not in known:
            setting = "channels.NAME.tenants"
            raise build_resource_error(
                "channel", name, tenant=tenant, available=known, setting=setting
            )
    return tuple(dict.fromkeys(names))


def _spell_values(values: Mapping[str, str | float | None]) -> dict[str, str]:
    for name, value in values.items():
        if VALUE_NAME.fullmatch(name) is None:
            raise InvalidInput("values", name, VALUE_NAME_EXPECTED)
        if name in RUN_FACTS:
            wanted = f"{name} is reserved: Rota fills it in; use another name"
            raise InvalidInput(f"values.{name}", value, wanted)
    return {name: render_value(value) for name, value in values.items()}


def render_value(value: str | float | None) -> str:
    """Return a value as text: empty for null, `true` and not `True`."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _check_recipients(
    value: str | list[str] | None, names: tuple[str, ...], channels: Mapping[str, bool]
) -> tuple[str, ...]:
    if value is None:
        return ()
    addresses = [value] if isinstance(value, str) else value
    for address in addresses:
        if MAIL_ADDRESS.fullmatch(address) is None:
            raise InvalidInput("to", address, "expected an e-mail address such as ada@example.org")
    if closed := [name for name in names if not channels[name]]:
        wanted = f"channel {closed[0]} accepts no recipients; the operator sets allow_to = true"
        raise InvalidInput("to", value, wanted)
    return tuple(dict.fromkeys(addresses))


def _refuse_long(message: NotifyMessage) -> None:
    escape = ESCAPES[message.format]
    facts = dict.fromkeys(RUN_FACTS, FACT_MAX_CHARACTERS)
    plain = {name: len(value) for name, value in message.values.items()} | facts
    escaped = {name: len(escape(value)) for name, value in message.values.items()} | facts
    for name, size, limit in (
        ("title", message.title.measure(plain), TITLE_CHARACTERS_MAX),
        ("body", message.body.measure(escaped), BODY_MAX_CHARACTERS),
    ):
        if size > limit:
            wanted = f"must be at most {limit} characters with its values filled in"
            raise InvalidInput(name, f"{size} characters", wanted)
