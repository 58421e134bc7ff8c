"""Builds the channels of a process from its settings.

`[channels.NAME]` serves alerts, which schedulers send, and `notify` jobs, which workers run. The
older `[executors.channels.NAME]` serves `notify` jobs only.
"""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from rota.config.channels import ChannelSettings
from rota.config.executors import NotifyChannelSettings
from rota.config.secret_references import resolve_references
from rota.config.settings import Settings
from rota.core import signatures
from rota.core.alert_channels import AlertChannel
from rota.core.alerts.channel_kinds import (
    ALERTMANAGER,
    OWN_KINDS,
    UNKNOWN_KIND,
    WEBHOOK,
    find_channel_kind,
    is_recovery_required,
)
from rota.core.alerts.finding import Severity
from rota.core.errors import InvalidSetting
from rota.executors.http.alert_channels import (
    AlertmanagerChannel,
    ChannelClient,
    WebhookAlertChannel,
    parse_channel_url,
)
from rota.executors.notify import NotifyChannel
from rota.executors.notify.alert_channel import AppriseAlertChannel
from rota.executors.notify.sender import load_apprise, run_in_thread
from rota.store.alert_channels import ChannelReport

DEPRECATED_SETTING: Final = "executors.channels"
DEPRECATION_REMEDY: Final = (
    "move each table to [channels.NAME] and add `tenants`; alerts use only [channels.NAME]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredAlertChannel:
    """A channel that can send, and what other processes may know about it."""

    report: ChannelReport
    channel: AlertChannel


@asynccontextmanager
async def open_alert_channels(
    settings: Settings, environment: Mapping[str, str] | None = None
) -> AsyncIterator[dict[str, ConfiguredAlertChannel]]:
    """Yield the channels of this process by name, and close them.

    Loads apprise now, because loading it takes a second of processor time, which must not delay
    the firing of ticks later.
    """
    configured = build_alert_channels(settings, os.environ if environment is None else environment)
    if any(isinstance(each.channel, AppriseAlertChannel) for each in configured.values()):
        await run_in_thread(load_apprise)
    try:
        yield configured
    finally:
        for each in configured.values():
            await each.channel.close()


def check_alert_channels(settings: Settings) -> None:
    """Validate the channels of alerts before anything else starts."""
    build_alert_channels(settings, os.environ)


def build_alert_channels(
    settings: Settings, environment: Mapping[str, str]
) -> dict[str, ConfiguredAlertChannel]:
    """Return the channels of alerts by name, with their secrets resolved."""
    deny_networks = settings.executors.http_deny_networks
    return {
        name: build_alert_channel(name, channel, environment, deny_networks=deny_networks)
        for name, channel in settings.channels.items()
    }


def build_alert_channel(
    name: str,
    settings: ChannelSettings,
    environment: Mapping[str, str],
    *,
    deny_networks: tuple[str, ...] = (),
) -> ConfiguredAlertChannel:
    setting = f"channels.{name}.url"
    url = resolve_references(settings.url, field=setting, environment=environment)
    kind = find_channel_kind(url)
    if kind == UNKNOWN_KIND:
        raise InvalidSetting(setting, "***", "expected a URL with a scheme, such as mailto://…")
    check_secrets(name, settings, kind)
    report = ChannelReport(
        name=name,
        kind=kind,
        tenants=settings.tenants,
        is_default=settings.default,
        recovery=settings.recovery or is_recovery_required(kind),
        minimum_severity=Severity(settings.severity),
        messages_per_hour=settings.messages_per_hour,
        pages_per_hour=settings.pages_per_hour,
    )
    if kind not in OWN_KINDS:
        channel: AlertChannel = AppriseAlertChannel(url=url, kind=kind, timeout=settings.timeout)
        return ConfiguredAlertChannel(report=report, channel=channel)
    client = ChannelClient(
        parse_channel_url(url, setting=setting),
        timeout=settings.timeout,
        deny_networks=deny_networks,
    )
    if kind == ALERTMANAGER:
        channel = AlertmanagerChannel(client)
    else:
        channel = WebhookAlertChannel(client, keys=read_keys(name, settings, environment))
    return ConfiguredAlertChannel(report=report, channel=channel)


def check_secrets(name: str, settings: ChannelSettings, kind: str) -> None:
    """Refuse a webhook without secrets, and secrets that would sign nothing."""
    setting = f"channels.{name}.secrets"
    if kind == WEBHOOK and not settings.secrets:
        raise InvalidSetting(setting, [], f"required for a webhook; {signatures.SECRET_WANTED}")
    if kind != WEBHOOK and settings.secrets:
        wanted = f"must be empty: only webhook+https:// channels sign, and this is {kind}"
        raise InvalidSetting(setting, "***", wanted)


def read_keys(
    name: str, settings: ChannelSettings, environment: Mapping[str, str]
) -> tuple[bytes, ...]:
    """Return the signing keys of a webhook."""
    setting = f"channels.{name}.secrets"
    return tuple(
        signatures.parse_secret(
            resolve_references(text, field=setting, environment=environment),
            field=setting,
            error=InvalidSetting,
        )
        for text in settings.secrets
    )


def build_notify_channels(
    settings: Settings, environment: Mapping[str, str]
) -> dict[str, NotifyChannel]:
    """Return the channels of `notify` jobs by name. Alertmanager and webhook channels are left out:
    the messages of jobs are no incidents.
    """
    named: list[tuple[str, str, NotifyChannelSettings | ChannelSettings]] = [
        *((DEPRECATED_SETTING, *each) for each in settings.executors.channels.items()),
        *(("channels", *each) for each in settings.channels.items()),
    ]
    built = {}
    for table, name, channel in named:
        setting = f"{table}.{name}.url"
        url = resolve_references(channel.url, field=setting, environment=environment)
        if find_channel_kind(url) in OWN_KINDS:
            continue
        built[name] = NotifyChannel(
            url=url, allow_to=channel.allow_to, timeout=channel.timeout, tenants=channel.tenants
        )
    return built


def find_deprecated_setting(settings: Settings) -> str | None:
    """Return the older setting of channels if it is used."""
    return DEPRECATED_SETTING if settings.executors.channels else None
