"""Sends messages about incidents to every service that apprise supports.

Most services get a title and a text. Services that know alerts get more: PagerDuty and Jira Service
Management receive the deduplication key, so that they keep one alert from its beginning to its end;
mail gets threads (mail.py). Apprise escapes plain text for each service; texts of jobs are
neutralised before (core/alerts/messages.py).
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote

from rota.core.alert_channels import AlertMessage, ChannelResult, MessageKind
from rota.core.alerts.channel_kinds import EMAIL, JIRA, PAGERDUTY
from rota.core.alerts.finding import Severity
from rota.core.alerts.messages import (
    BODY_CHARACTERS_MAX,
    NAME_BYTES_MAX,
    RenderedAlert,
    neutralise_text,
    render_alert,
)
from rota.executors.notify.mail import is_encrypted, send_mail
from rota.executors.notify.send_result import (
    SENT,
    SendResult,
    build_final_failure,
    build_retryable_failure,
    capture_logger,
    classify_records,
)
from rota.executors.notify.sender import (
    build_asset,
    open_service,
    refuse_without_apprise,
    run_in_thread,
)

# The names of apprise for what a message is about.
LEVEL_OF_SEVERITY: Final[Mapping[Severity, str]] = {
    Severity.INFO: "info",
    Severity.WARNING: "warning",
    Severity.PAGE: "failure",
}
RESOLVED_LEVEL: Final = "success"
# Share of a service's limit that Rota uses: escapes make a text longer.
USED_SHARE_OF_LIMIT: Final = 0.7
TITLE_RESERVE_CHARACTERS: Final = 300
BODY_CHARACTERS_MIN: Final = 120
DEDUP_KEY_CHARACTERS_MAX: Final = 255
# Custom details of a PagerDuty event, which may have 512 KB.
DETAILS_CHARACTERS_MAX: Final = 8000
# The sender of events that apprise writes if the URL has none.
APPRISE_SOURCE: Final = "Apprise"
# Jira Service Management: P1 is the most urgent.
JIRA_PRIORITIES: Final[Mapping[Severity, int]] = {
    Severity.INFO: 5,
    Severity.WARNING: 3,
    Severity.PAGE: 1,
}
JIRA_ALERTS_URL: Final = "https://api.atlassian.com/jsm/ops/integration/v2/alerts"
# Messages that change an alert instead of creating it, and the last part of their path.
JIRA_CHANGES: Final[Mapping[MessageKind, str]] = {
    MessageKind.ACKNOWLEDGED: "acknowledge",
    MessageKind.RESOLVED: "close",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AppriseDelivery:
    """One message on its way: the loaded module, its settings, the service and the message."""

    apprise: Any
    asset: Any
    service: Any
    message: AlertMessage

    def notify(self, *, title: str, body: str, level: str) -> bool:
        """Send a plain text through apprise."""
        sender = self.apprise.Apprise(asset=self.asset)
        sender.add(self.service)
        return bool(sender.notify(body=body, title=title, body_format="text", notify_type=level))

    @property
    def level(self) -> str:
        if self.message.kind is MessageKind.RESOLVED:
            return RESOLVED_LEVEL
        return LEVEL_OF_SEVERITY[self.message.severity]

    def render(self) -> RenderedAlert:
        limit = int(self.service.body_maxlen * USED_SHARE_OF_LIMIT)
        if self.service.title_maxlen <= 0:
            limit -= TITLE_RESERVE_CHARACTERS
        limit = min(max(limit, BODY_CHARACTERS_MIN), BODY_CHARACTERS_MAX)
        return render_alert(self.message, characters_max=limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppriseAlertChannel:
    """Sends messages to one apprise URL, which holds secrets and is never shown."""

    url: str = field(repr=False)
    kind: str
    timeout: timedelta = timedelta(seconds=30)

    def __post_init__(self) -> None:
        refuse_without_apprise()

    async def send(self, message: AlertMessage, /) -> ChannelResult:
        try:
            async with asyncio.timeout(self.timeout.total_seconds()):
                result = await run_in_thread(lambda: self._deliver(message))
        except TimeoutError:
            result = build_retryable_failure("timeout", "no response in time")
        except Exception as error:  # noqa: BLE001 - a plug-in of apprise; its text may show the URL
            name = type(error).__name__
            result = build_retryable_failure(name, f"apprise failed with {name}")
        if result.is_sent:
            return ChannelResult()
        return ChannelResult(error=result.message, final=result.final)

    async def close(self) -> None:
        pass

    def _deliver(self, message: AlertMessage) -> SendResult:
        """Send the message and classify the result. Called in a thread."""
        import apprise  # noqa: PLC0415 - large; see sender.py

        with capture_logger(apprise.logger.name).capture() as heard:
            asset = build_asset(apprise)
            key = str(message.notification_id)
            service = open_service(apprise, asset, self.url, timeout=self.timeout, key=key)
            if service is None:
                return build_final_failure(
                    "bad channel", "apprise does not support the URL of this channel"
                )
            prepare_service(service, self.url)
            delivery = AppriseDelivery(
                apprise=apprise, asset=asset, service=service, message=message
            )
            result = DELIVERIES.get(self.kind, deliver_text)(delivery)
            return classify_records(heard) if result is None else result


def prepare_service(service: Any, url: str) -> None:
    """Turn off what apprise does by default: waiting between requests, and its own pictures."""
    service.request_rate_per_sec = 0
    if hasattr(service, "include_image") and "image=" not in url:
        service.include_image = False


def build_dedup_key(message: AlertMessage) -> str:
    """Return the deduplication key, shortened to what services accept."""
    key = message.dedup_key
    if len(key) <= DEDUP_KEY_CHARACTERS_MAX and key.isascii():
        return key
    return sha256(key.encode()).hexdigest()


def deliver_text(delivery: AppriseDelivery) -> SendResult | None:
    """Send title and text. Return None if apprise failed; its log says why."""
    rendered = delivery.render()
    sent = delivery.notify(title=rendered.title, body=rendered.body, level=delivery.level)
    return SENT if sent else None


def deliver_mail(delivery: AppriseDelivery) -> SendResult | None:
    """Send a mail that belongs to the thread of its incidents."""
    if is_encrypted(delivery.service):
        return deliver_text(delivery)
    return send_mail(delivery.service, delivery.message, delivery.render())


def deliver_pagerduty(delivery: AppriseDelivery) -> SendResult | None:
    """Trigger or resolve one PagerDuty alert. PagerDuty learns of no acknowledgement."""
    service, message = delivery.service, delivery.message
    if message.kind is MessageKind.ACKNOWLEDGED:
        return SENT
    rendered = render_alert(message, characters_max=DETAILS_CHARACTERS_MAX)
    tenant = neutralise_text(message.tenant, bytes_max=NAME_BYTES_MAX)
    service.action = "map"
    service.dedup = build_dedup_key(message)
    service.click = message.link
    service.details = {**service.details, "tenant": tenant, "incidents": rendered.body}
    if service.source == APPRISE_SOURCE:
        service.source = f"rota/{tenant}"
    if message.items:
        service.component = neutralise_text(message.items[0].subject_name, bytes_max=NAME_BYTES_MAX)
    # PagerDuty's summary is one line; the incidents are in the details.
    sent = delivery.notify(title="", body=rendered.title, level=delivery.level)
    if sent and message.kind is MessageKind.TEST:
        sent = delivery.notify(title="", body=rendered.title, level=RESOLVED_LEVEL)
    return SENT if sent else None


def deliver_jira(delivery: AppriseDelivery) -> SendResult | None:
    """Create, acknowledge or close one alert of Jira Service Management.

    Apprise closes only alerts that the same object created, so Rota sends the request by which Jira
    finds an alert by its alias.
    """
    service, message = delivery.service, delivery.message
    rendered = delivery.render()
    if change := JIRA_CHANGES.get(message.kind):
        return SENT if change_jira_alert(service, message, rendered, change) else None
    service.action = "new"
    service.alias = build_dedup_key(message)
    if service.priority == service.template_args["priority"]["default"]:
        service.priority = JIRA_PRIORITIES[message.severity]
    tenant = neutralise_text(message.tenant, bytes_max=NAME_BYTES_MAX)
    service.details = {**service.details, "tenant": tenant, "link": message.link or ""}
    sent = delivery.notify(title=rendered.title, body=rendered.body, level=delivery.level)
    if sent and message.kind is MessageKind.TEST:
        sent = change_jira_alert(service, message, rendered, "close")
    return SENT if sent else None


def change_jira_alert(
    service: Any, message: AlertMessage, rendered: RenderedAlert, change: str
) -> bool:
    """Acknowledge or close the alert with the alias of this message."""
    import requests  # noqa: PLC0415 - apprise brings it

    alias = quote(build_dedup_key(message), safe="")
    payload = {"source": service.app_desc, "note": f"{rendered.title}\n{rendered.body}"}
    if service.user:
        payload["user"] = service.user
    sent, _ = service._fetch(  # noqa: SLF001 - apprise has no public way to name an alias
        requests.post,
        f"{JIRA_ALERTS_URL}/{alias}/{change}",
        payload,
        {"identifierType": "alias"},
    )
    return bool(sent)


DELIVERIES: Final[Mapping[str, Callable[[AppriseDelivery], SendResult | None]]] = {
    EMAIL: deliver_mail,
    PAGERDUTY: deliver_pagerduty,
    JIRA: deliver_jira,
}
