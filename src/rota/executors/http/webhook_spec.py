"""What the payload of a signed webhook may say. Room: executors/http.

    {"webhook": "partner", "url": "https://partner.example/hook",
     "type": "invoice.paid", "data": {"invoice": 7}, "headers": {"X-Team": "billing"},
     "timeout": "20s", "ok": ["2xx"]}

`type` and `data` make the usual body, `{"type": …, "timestamp": …, "data": …}`; `body` instead of
them is sent as it is. Only reads and refuses.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.core.time import moments
from rota.executors.http.spec import Request, read_request
from rota.executors.http.target import Target

EVENT: Final = ("type", "data")
PASSED_ON: Final = ("url", "headers", "timeout", "ok")
KNOWN: Final = ("webhook", *EVENT, "body", *PASSED_ON)
# Receivers of webhooks answer first and work later.
TIMEOUT: Final = "20s"
TYPE = re.compile(r"[A-Za-z0-9_-]{1,64}(?:\.[A-Za-z0-9_-]{1,64}){0,7}", re.ASCII)
SOME_TIME: Final = datetime(2030, 1, 1, tzinfo=UTC)
EXAMPLE: Final = (
    'an object such as {"webhook": "partner", "url": "https://…", "type": "invoice.paid"}'
)


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


def read_delivery(payload: object, hosts: Mapping[str, Sequence[str]]) -> Delivery:
    """`hosts` are the webhooks there are, each with the hosts that it may go to."""
    if not isinstance(payload, Mapping):
        raise InvalidInput("payload", payload, EXAMPLE)
    for key in payload:
        if key not in KNOWN:
            raise InvalidInput(f"payload.{key}", payload[key], f"one of {', '.join(KNOWN)}")
    name = payload.get("webhook")
    if not isinstance(name, str) or name not in hosts:
        wanted = f"a webhook that this worker knows: {', '.join(sorted(hosts))}"
        raise InvalidInput("webhook", name, wanted)
    event = _event(payload)
    request = read_request(
        {
            **{key: payload[key] for key in PASSED_ON if key in payload},
            "method": "POST",
            "timeout": payload.get("timeout") or TIMEOUT,
            "body": payload.get("body") if event is None else event.plain(SOME_TIME),
        }
    )
    refuse_signed(request.headers)
    refuse_strangers(request.target, name, hosts[name])
    return Delivery(webhook=name, request=request, event=event)


def _event(payload: Mapping[str, Any]) -> Event | None:
    if "body" in payload:
        if any(key in payload for key in EVENT):
            raise InvalidInput("body", payload["body"], "either body, or type and data")
        return None
    type_ = payload.get("type")
    if not isinstance(type_, str) or TYPE.fullmatch(type_) is None:
        wanted = "what happened, in words with dots between them, such as invoice.paid"
        raise InvalidInput("type", type_, wanted)
    return Event(type=type_, data=payload.get("data"))


def refuse_signed(headers: Mapping[str, str]) -> None:
    for name in headers:
        if name.lower().startswith("webhook-"):
            raise InvalidInput("headers", name, "a header that Rota does not set itself")


def refuse_strangers(target: Target, webhook: str, hosts: Sequence[str]) -> None:
    """A signature is as good as its secret: nobody gets one who is not meant to."""
    if hosts and target.host not in hosts:
        raise InvalidInput("url", target.shown, f"{webhook} goes to {', '.join(hosts)} only")
