"""Builds the executors that use named resources (connections, channels, places) from the settings.

It resolves secret references (config/secret_references.py) when a worker starts, so that a missing one
prevents the start instead of failing runs later.
"""

from collections.abc import Mapping

from rota.config.executors import ExecutorSettings
from rota.config.secret_references import resolve_references
from rota.executors.http import TargetGuard, WebhookExecutor, build_webhook_signing
from rota.executors.notify import NotifyChannel, NotifyExecutor
from rota.executors.sql import (
    DataFolder,
    EtlExecutor,
    EtlLimits,
    SqlConnection,
    SqlConnections,
    SqlExecutor,
)
from rota.executors.sync import SyncExecutor, SyncPlace


def build_notify_executor(
    settings: ExecutorSettings, environment: Mapping[str, str]
) -> NotifyExecutor:
    channels = {
        name: NotifyChannel(
            url=resolve_references(
                channel.url, field=f"executors.channels.{name}.url", environment=environment
            ),
            allow_to=channel.allow_to,
            timeout=channel.timeout,
            tenants=channel.tenants,
        )
        for name, channel in settings.channels.items()
    }
    return NotifyExecutor(channels)


def build_sql_executors(
    settings: ExecutorSettings, environment: Mapping[str, str]
) -> tuple[SqlExecutor, EtlExecutor]:
    """Build the `sql` and `etl` executors, which share connections and a data folder."""
    connections = SqlConnections(
        SqlConnection(
            name=name,
            url=resolve_references(
                one.url, field=f"executors.connections.{name}.url", environment=environment
            ),
            read_only=one.read_only,
            tenants=one.tenants,
        )
        for name, one in settings.connections.items()
    )
    folder = DataFolder(settings.data_folder, tenants=settings.data_folder_tenants)
    limits = EtlLimits(
        memory=settings.etl_memory, disk=settings.etl_disk, folder=settings.etl_folder
    )
    return (
        SqlExecutor(connections=connections, folder=folder),
        EtlExecutor(connections=connections, folder=folder, limits=limits),
    )


def build_webhook_executor(
    settings: ExecutorSettings, environment: Mapping[str, str], guard: TargetGuard
) -> WebhookExecutor:
    webhooks = {}
    for name, webhook in settings.webhooks.items():
        field = f"executors.webhooks.{name}.secrets"
        secrets = [
            resolve_references(text, field=field, environment=environment)
            for text in webhook.secrets
        ]
        webhooks[name] = build_webhook_signing(
            secrets, hosts=webhook.hosts, tenants=webhook.tenants, field=field
        )
    return WebhookExecutor(webhooks, guard=guard, guard_tenants=settings.http_allow_tenants)


def build_sync_executor(settings: ExecutorSettings, environment: Mapping[str, str]) -> SyncExecutor:
    places = []
    for name, place in settings.places.items():
        field = f"executors.places.{name}"

        def resolve_option(setting: str, text: str | None, field: str = field) -> str | None:
            path = f"{field}.{setting}"
            return (
                None
                if text is None
                else resolve_references(text, field=path, environment=environment)
            )

        places.append(
            SyncPlace(
                name=name,
                url=place.url,
                endpoint=place.endpoint,
                region=place.region,
                account=resolve_option("account", place.account),
                secret=resolve_option("secret", place.secret),
                key_file=None if place.key_file is None else str(place.key_file),
                host_keys=place.host_keys,
                read_only=place.read_only,
                tenants=place.tenants,
            )
        )
    return SyncExecutor(places)
