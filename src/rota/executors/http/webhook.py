"""One attempt of a signed webhook. Room: executors/http.

A POST that its receiver can verify (core/signatures.py), sent as the HTTP executor sends: through
the same guard, with the same headers and endings. Secrets are known to payloads by name only. A
redirect is not followed, because what is signed is meant for one receiver; 410 and other refusals
of the receiver end the run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rota.contract.payloads.http import WebhookPayload
from rota.contract.schemas import render_schema
from rota.core import signatures
from rota.core.clock import Clock
from rota.core.describing import TaskDescription
from rota.core.errors import InvalidInput, InvalidSetting
from rota.core.executor import Context
from rota.core.outcome import Outcome
from rota.core.tenancy import DEFAULT_TENANT, DEFAULT_TENANTS, select_open
from rota.executors.http.connecting import Lookup
from rota.executors.http.executor import HttpExecutor
from rota.executors.http.guard import Guard
from rota.executors.http.webhook_spec import Delivery, read_delivery
from rota.runtime.clock import SystemClock

KIND = "webhook"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signing:
    """What a webhook is signed with, and where it may go: nowhere else, if `hosts` are given."""

    keys: tuple[bytes, ...] = field(repr=False)
    hosts: Sequence[str] = ()
    tenants: tuple[str, ...] = DEFAULT_TENANTS


def signing(
    secrets: Sequence[str],
    *,
    hosts: Sequence[str] = (),
    tenants: tuple[str, ...] = DEFAULT_TENANTS,
    field: str = "executors.webhooks",
) -> Signing:
    """Read the secrets; `field` is the setting that a refusal names."""
    keys = tuple(signatures.key_of(each, field=field, error=InvalidSetting) for each in secrets)
    if not keys:
        raise InvalidSetting(field, [], "at least one secret")
    return Signing(keys=keys, hosts=hosts, tenants=tenants)


class WebhookExecutor:
    """`webhooks` are known to payloads by their names; without any, the kind is off."""

    only_calls = True

    def __init__(
        self,
        webhooks: Mapping[str, Signing],
        *,
        guard: Guard | None = None,
        guard_tenants: Sequence[str] = DEFAULT_TENANTS,
        lookup: Lookup | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._webhooks = dict(webhooks)
        self._http = HttpExecutor(guard=guard, guard_tenants=guard_tenants, lookup=lookup)
        self._clock = clock or SystemClock()

    @property
    def kinds(self) -> Sequence[str]:
        return (KIND,) if self._webhooks else ()

    def payload_schema(self, kind: str) -> Mapping[str, Any]:  # noqa: ARG002 — it has one
        return render_schema(WebhookPayload)

    def describe_task(self, kind: str) -> TaskDescription:  # noqa: ARG002 — it has one
        return TaskDescription(text="Sends a signed webhook.")

    def read(self, kind: str, payload: Any) -> Delivery:
        return self.read_for(DEFAULT_TENANT, kind, payload)

    def read_for(self, tenant: str, kind: str, payload: Any) -> Delivery:
        if kind != KIND:
            raise InvalidInput("kind", kind, KIND)
        webhooks = select_open(self._webhooks, tenant)
        hosts = {name: signing.hosts for name, signing in webhooks.items()}
        delivery = read_delivery(payload, hosts, tenant)
        request = replace(delivery.request, is_trusted=self._http.trusts(tenant))
        return replace(delivery, request=request)

    def target_of(self, spec: Delivery) -> str:
        return self._http.target_of(spec.request)

    async def run(self, spec: Delivery, context: Context) -> Outcome:
        body = spec.body_at(context.scheduled_at)
        signed = signatures.headers_for(
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
