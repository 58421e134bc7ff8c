"""Builds the built-in executors from the settings of a worker.

Each function is an entry point of the group `rota.executors` in pyproject.toml. They resolve secret
references (config/secret_references.py) when a worker starts, so that a missing one prevents the
start instead of failing runs later.
"""

from functools import partial

from rota.config.executors import ExecutorSettings
from rota.config.secret_references import resolve_references
from rota.executors.http import (
    HttpExecutor,
    TargetGuard,
    WebhookExecutor,
    build_webhook_signing,
)
from rota.executors.notify import NotifyExecutor
from rota.executors.python import PythonExecutor, PythonLimits
from rota.executors.shell import ShellExecutor
from rota.executors.sql import (
    DataFolder,
    EtlExecutor,
    EtlLimits,
    SqlConnection,
    SqlConnections,
    SqlExecutor,
)
from rota.executors.sync import SyncExecutor, SyncPlace
from rota.processes.alert_channels import build_notify_channels
from rota.processes.child_environment import build_child_environment
from rota.processes.executor_factory import ExecutorSetup


def build_python_executor(setup: ExecutorSetup) -> PythonExecutor | None:
    """Return None for a worker without an app: it leaves the kinds of handlers to others."""
    if setup.handlers is None:
        return None
    # A claimed run must not wait for a thread or child process while its timeout runs.
    slots = setup.settings.worker.slots
    return PythonExecutor(
        setup.handlers.handlers,
        source=setup.handlers.source,
        limits=PythonLimits(threads=slots, children=slots),
        environment=partial(build_child_environment, setup.settings, setup.environment),
    )


def build_shell_executor(setup: ExecutorSetup) -> ShellExecutor:
    settings = setup.settings.executors
    return ShellExecutor(
        allow=settings.shell_allow, user=settings.shell_user, tenants=settings.shell_tenants
    )


def build_http_executor(setup: ExecutorSetup) -> HttpExecutor:
    settings = setup.settings.executors
    return HttpExecutor(guard=build_guard(settings), guard_tenants=settings.http_allow_tenants)


def build_webhook_executor(setup: ExecutorSetup) -> WebhookExecutor:
    settings = setup.settings.executors
    webhooks = {}
    for name, webhook in settings.webhooks.items():
        field = f"executors.webhooks.{name}.secrets"
        secrets = [
            resolve_references(text, field=field, environment=setup.environment)
            for text in webhook.secrets
        ]
        webhooks[name] = build_webhook_signing(
            secrets, hosts=webhook.hosts, tenants=webhook.tenants, field=field
        )
    return WebhookExecutor(
        webhooks, guard=build_guard(settings), guard_tenants=settings.http_allow_tenants
    )


def build_guard(settings: ExecutorSettings) -> TargetGuard:
    """Build the guard that decides which targets requests may reach."""
    return TargetGuard(
        allow_networks=settings.http_allow_networks,
        allow_hosts=settings.http_allow_hosts,
        allow_ports=settings.http_allow_ports,
        deny_networks=settings.http_deny_networks,
    )


def build_notify_executor(setup: ExecutorSetup) -> NotifyExecutor:
    return NotifyExecutor(build_notify_channels(setup.settings, setup.environment))


def build_sql_executor(setup: ExecutorSetup) -> SqlExecutor | None:
    """Return None for a worker without connections and files: it leaves `sql` to others."""
    settings = setup.settings.executors
    if not has_sql_resources(settings):
        return None
    return SqlExecutor(connections=build_connections(setup), folder=build_data_folder(settings))


def build_etl_executor(setup: ExecutorSetup) -> EtlExecutor | None:
    """Return None for a worker without connections and files: it leaves `etl` to others."""
    settings = setup.settings.executors
    if not has_sql_resources(settings):
        return None
    limits = EtlLimits(
        memory=settings.etl_memory, disk=settings.etl_disk, folder=settings.etl_folder
    )
    return EtlExecutor(
        connections=build_connections(setup), folder=build_data_folder(settings), limits=limits
    )


def has_sql_resources(settings: ExecutorSettings) -> bool:
    return bool(settings.connections) or settings.data_folder is not None


def build_connections(setup: ExecutorSetup) -> SqlConnections:
    return SqlConnections(
        SqlConnection(
            name=name,
            url=resolve_references(
                one.url, field=f"executors.connections.{name}.url", environment=setup.environment
            ),
            read_only=one.read_only,
            tenants=one.tenants,
        )
        for name, one in setup.settings.executors.connections.items()
    )


def build_data_folder(settings: ExecutorSettings) -> DataFolder:
    return DataFolder(settings.data_folder, tenants=settings.data_folder_tenants)


def build_sync_executor(setup: ExecutorSetup) -> SyncExecutor:
    places = []
    for name, place in setup.settings.executors.places.items():
        field = f"executors.places.{name}"

        def resolve_option(setting: str, text: str | None, field: str = field) -> str | None:
            path = f"{field}.{setting}"
            return (
                None
                if text is None
                else resolve_references(text, field=path, environment=setup.environment)
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
