"""Parses the payload of a signed webhook into a delivery. `WebhookPayload` defines the fields."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from rota.contract.payloads.http import HttpPayload, WebhookPayload
from rota.contract.payloads.reader import read_payload
from rota.core.errors import InvalidInput
from rota.core.tenancy import DEFAULT_TENANT, build_resource_error
from rota.core.time import moments
from rota.executors.http.spec import Request, build_request
from rota.executors.http.target import Target

TYPE = re.compile(r"[A-Za-z0-9_-]{1,64}(?:\.[A-Za-z0-9_-]{1,64}){0,7}", re.ASCII)
SOME_TIME: Final = datetime(2030, 1, 1, tzinfo=UTC)
EXAMPLE: Final = '{"webhook": "partner", "url": "https://…", "type": "invoice.paid"}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """The type and data of the event that a webhook reports; its time is added when it is sent."""

    type: str
    data: Any

    def plain(self, at: datetime) -> dict[str, Any]:
        return {"type": self.type, "timestamp": moments.to_rfc3339(at), "data": self.data}


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A request to sign. `event` provides the body; without it, the request has its own."""

    webhook: str
    request: Request
    event: Event | None

    def body_at(self, at: datetime) -> bytes:
        """Return the body, which is the same for all attempts of a run."""
        if self.event is None:
            return self.request.body or b""
        plain = self.event.plain(at)
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode()


def read_delivery(
    payload: object, hosts: Mapping[str, Sequence[str]], tenant: str = DEFAULT_TENANT
) -> Delivery:
    """Parse a payload; `hosts` maps the tenant's webhooks to the hosts they may be sent to."""
    fields = read_payload(WebhookPayload, payload, example=EXAMPLE)
    name = fields.webhook
    if name not in hosts:
        setting = "executors.webhooks.NAME.tenants"
        raise build_resource_error("webhook", name, tenant=tenant, available=hosts, setting=setting)
    event = _find_event(fields)
    request = build_request(
        HttpPayload(
            method="POST",
            url=fields.url,
            headers=fields.headers,
            timeout=fields.timeout,
            ok=fields.ok,
            body=fields.body if event is None else event.plain(SOME_TIME),
        )
    )
    refuse_signed(request.headers)
    refuse_strangers(request.target, name, hosts[name])
    return Delivery(webhook=name, request=request, event=event)


def _find_event(payload: WebhookPayload) -> Event | None:
    if payload.body is not None:
        if payload.type is not None or payload.data is not None:
            raise InvalidInput("body", payload.body, "expected either body, or type and data")
        return None
    if payload.type is None or TYPE.fullmatch(payload.type) is None:
        wanted = "expected an event type of words separated by dots, such as invoice.paid"
        raise InvalidInput("type", payload.type, wanted)
    return Event(type=payload.type, data=payload.data)


def refuse_signed(headers: Mapping[str, str]) -> None:
    for name in headers:
        if name.lower().startswith("webhook-"):
            raise InvalidInput("headers", name, "Rota sets this header; remove it")


def refuse_strangers(target: Target, webhook: str, hosts: Sequence[str]) -> None:
    """Refuse hosts outside the webhook's list: a signature must reach its receiver only."""
    if hosts and target.host not in hosts:
        wanted = f"webhook {webhook} may be sent to {', '.join(hosts)} only"
        raise InvalidInput("url", target.shown, wanted)
