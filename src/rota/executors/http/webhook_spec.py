"""Turns the payload of a signed webhook into a delivery. Room: executors/http.

The fields are those of `WebhookPayload`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from rota.contract.payloads.http import HttpPayload, WebhookPayload
from rota.contract.payloads.reading import read_payload
from rota.core.errors import InvalidInput
from rota.core.tenancy import DEFAULT_TENANT, refuse_resource
from rota.core.time import moments
from rota.executors.http.spec import Request, build_request
from rota.executors.http.target import Target

TYPE = re.compile(r"[A-Za-z0-9_-]{1,64}(?:\.[A-Za-z0-9_-]{1,64}){0,7}", re.ASCII)
SOME_TIME: Final = datetime(2030, 1, 1, tzinfo=UTC)
EXAMPLE: Final = '{"webhook": "partner", "url": "https://…", "type": "invoice.paid"}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened; its body says when."""

    type: str
    data: Any

    def plain(self, at: datetime) -> dict[str, Any]:
        return {"type": self.type, "timestamp": moments.rfc3339(at), "data": self.data}


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A request to sign; `event` makes its body, unless it has one already."""

    webhook: str
    request: Request
    event: Event | None

    def body_at(self, at: datetime) -> bytes:
        """The same for all attempts of a run."""
        if self.event is None:
            return self.request.body or b""
        plain = self.event.plain(at)
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode()


def read_delivery(
    payload: object, hosts: Mapping[str, Sequence[str]], tenant: str = DEFAULT_TENANT
) -> Delivery:
    """`hosts` are the webhooks that are open to the tenant, each with the hosts it may go to."""
    given = read_payload(WebhookPayload, payload, example=EXAMPLE)
    name = given.webhook
    if name not in hosts:
        setting = "executors.webhooks.NAME.tenants"
        raise refuse_resource("webhook", name, tenant=tenant, available=hosts, setting=setting)
    event = _find_event(given)
    request = build_request(
        HttpPayload(
            method="POST",
            url=given.url,
            headers=given.headers,
            timeout=given.timeout,
            ok=given.ok,
            body=given.body if event is None else event.plain(SOME_TIME),
        )
    )
    refuse_signed(request.headers)
    refuse_strangers(request.target, name, hosts[name])
    return Delivery(webhook=name, request=request, event=event)


def _find_event(payload: WebhookPayload) -> Event | None:
    if payload.body is not None:
        if payload.type is not None or payload.data is not None:
            raise InvalidInput("body", payload.body, "either body, or type and data")
        return None
    if payload.type is None or TYPE.fullmatch(payload.type) is None:
        wanted = "what happened, in words with dots between them, such as invoice.paid"
        raise InvalidInput("type", payload.type, wanted)
    return Event(type=payload.type, data=payload.data)


def refuse_signed(headers: Mapping[str, str]) -> None:
    for name in headers:
        if name.lower().startswith("webhook-"):
            raise InvalidInput("headers", name, "a header that Rota does not set itself")


def refuse_strangers(target: Target, webhook: str, hosts: Sequence[str]) -> None:
    """A signature is as good as its secret: nobody gets one who is not meant to."""
    if hosts and target.host not in hosts:
        raise InvalidInput("url", target.shown, f"{webhook} goes to {', '.join(hosts)} only")
