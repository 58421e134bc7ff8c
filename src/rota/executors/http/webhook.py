"""Runs one attempt of a signed webhook.

The receiver can verify the POST (core/signatures.py). The HTTP executor sends it, through the same
guard and with the same headers and outcomes. Payloads reference signing secrets by name only.
Redirects are not followed, because a signature is meant for one receiver. 410 and other final
statuses end the run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rota.contract.payloads.http import WebhookPayload
from rota.contract.schemas import render_schema
from rota.core import signatures
from rota.core.clock import ClockSource
from rota.core.errors import InvalidInput, InvalidSetting
from rota.core.executor import AttemptContext
from rota.core.kind_descriptions import TaskDescription
from rota.core.outcome import Outcome
from rota.core.tenancy import DEFAULT_TENANT, DEFAULT_TENANTS, select_open
from rota.executors.http.executor import HttpExecutor
from rota.executors.http.guard import TargetGuard
from rota.executors.http.guarded_client import Lookup
from rota.executors.http.webhook_spec import WebhookDelivery, read_delivery
from rota.runtime.clock import SystemClock

KIND = "webhook"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSigning:
    """The keys that sign a webhook, and the only hosts it may be sent to (empty: any host)."""

    keys: tuple[bytes, ...] = field(repr=False)
    hosts: Sequence[str] = ()
    tenants: tuple[str, ...] = DEFAULT_TENANTS


def build_webhook_signing(
    secrets: Sequence[str],
    *,
    hosts: Sequence[str] = (),
    tenants: tuple[str, ...] = DEFAULT_TENANTS,
    field: str = "executors.webhooks",
) -> WebhookSigning:
    """Parse the secrets of a webhook; errors name the setting `field`."""
    keys = tuple(
        signatures.parse_secret(text, field=field, error=InvalidSetting) for text in secrets
    )
    if not keys:
        raise InvalidSetting(field, [], "expected at least one secret")
    return WebhookSigning(keys=keys, hosts=hosts, tenants=tenants)


class WebhookExecutor:
    """Sends signed webhooks. Payloads name one of `webhooks`; if it is empty, the kind is off."""

    only_calls = True

    def __init__(
        self,
        webhooks: Mapping[str, WebhookSigning],
        *,
        guard: TargetGuard | None = None,
        guard_tenants: Sequence[str] = DEFAULT_TENANTS,
        lookup: Lookup | None = None,
        clock: ClockSource | None = None,
    ) -> None:
        self._webhooks = dict(webhooks)
        self._http = HttpExecutor(guard=guard, guard_tenants=guard_tenants, lookup=lookup)
        self._clock = clock or SystemClock()

    @property
    def kinds(self) -> Sequence[str]:
        return (KIND,) if self._webhooks else ()

    def payload_schema(self, kind: str) -> Mapping[str, Any]:  # noqa: ARG002 — it has one kind
        return render_schema(WebhookPayload)

    def describe_task(self, kind: str) -> TaskDescription:  # noqa: ARG002 — it has one kind
        return TaskDescription(text="Sends a signed webhook.")

    def read(self, kind: str, payload: Any) -> WebhookDelivery:
        return self.read_for(DEFAULT_TENANT, kind, payload)

    def read_for(self, tenant: str, kind: str, payload: Any) -> WebhookDelivery:
        if kind != KIND:
            raise InvalidInput("kind", kind, f"expected {KIND}")
        webhooks = select_open(self._webhooks, tenant)
        hosts = {name: signing.hosts for name, signing in webhooks.items()}
        delivery = read_delivery(payload, hosts, tenant)
        request = replace(delivery.request, is_trusted=self._http.trusts(tenant))
        return replace(delivery, request=request)

    def target_of(self, spec: WebhookDelivery) -> str:
        return self._http.target_of(spec.request)

    async def run(self, spec: WebhookDelivery, context: AttemptContext) -> Outcome:
        body = spec.encode_body(context.scheduled_at)
        signed = signatures.build_headers(
            body,
            self._webhooks[spec.webhook].keys,
            id=context.idempotency_key,
            at=self._clock.now(),
        )
        headers = {**spec.request.headers, **signed}
        return await self._http.run(replace(spec.request, headers=headers, body=body), context)

    async def open(self) -> None:
        await self._http.open()

    async def close(self) -> None:
        await self._http.close()
