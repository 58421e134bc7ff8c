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
from rota.executors.http.spec import HttpRequest, build_request
from rota.executors.http.target import HttpTarget

EVENT_TYPE = re.compile(r"[A-Za-z0-9_-]{1,64}(?:\.[A-Za-z0-9_-]{1,64}){0,7}", re.ASCII)
PLACEHOLDER_TIME: Final = datetime(2030, 1, 1, tzinfo=UTC)
PAYLOAD_EXAMPLE: Final = '{"webhook": "partner", "url": "https://…", "type": "invoice.paid"}'


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookEvent:
    """The type and data of the event that a webhook reports; its time is added when it is sent."""

    type: str
    data: Any

    def to_json(self, at: datetime) -> dict[str, Any]:
        return {"type": self.type, "timestamp": moments.to_rfc3339(at), "data": self.data}


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookDelivery:
    """A request to sign. `event` provides the body; without it, the request has its own."""

    webhook: str
    request: HttpRequest
    event: WebhookEvent | None

    def encode_body(self, at: datetime) -> bytes:
        """Return the body, which is the same for all attempts of a run."""
        if self.event is None:
            return self.request.body or b""
        plain = self.event.to_json(at)
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode()


def read_delivery(
    payload: object, hosts: Mapping[str, Sequence[str]], tenant: str = DEFAULT_TENANT
) -> WebhookDelivery:
    """Parse a payload; `hosts` maps the tenant's webhooks to the hosts they may be sent to."""
    fields = read_payload(WebhookPayload, payload, example=PAYLOAD_EXAMPLE)
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
            body=fields.body if event is None else event.to_json(PLACEHOLDER_TIME),
        )
    )
    refuse_signature_headers(request.headers)
    refuse_other_hosts(request.target, name, hosts[name])
    return WebhookDelivery(webhook=name, request=request, event=event)


def _find_event(payload: WebhookPayload) -> WebhookEvent | None:
    if payload.body is not None:
        if payload.type is not None or payload.data is not None:
            raise InvalidInput("body", payload.body, "expected either body, or type and data")
        return None
    if payload.type is None or EVENT_TYPE.fullmatch(payload.type) is None:
        wanted = "expected an event type of words separated by dots, such as invoice.paid"
        raise InvalidInput("type", payload.type, wanted)
    return WebhookEvent(type=payload.type, data=payload.data)


def refuse_signature_headers(headers: Mapping[str, str]) -> None:
    for name in headers:
        if name.lower().startswith("webhook-"):
            raise InvalidInput("headers", name, "Rota sets this header; remove it")


def refuse_other_hosts(target: HttpTarget, webhook: str, hosts: Sequence[str]) -> None:
    """Refuse hosts outside the webhook's list: a signature must reach its receiver only."""
    if hosts and target.host not in hosts:
        wanted = f"webhook {webhook} may be sent to {', '.join(hosts)} only"
        raise InvalidInput("url", target.display_url, wanted)
