"""Sends messages about incidents to Alertmanager and to webhooks.

Both URLs are written by the operator, so they may lead to the private host that they name, on any
port. Nothing else is allowed: no redirect, no cloud metadata service, nothing in
`executors.http_deny_networks` (guard.py). A response is never shown, only its status.
"""

import asyncio
import json
import re
import ssl
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from importlib import metadata
from typing import Any, Final
from urllib.parse import quote, unquote

from aiohttp import (
    ClientConnectorDNSError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
)
from yarl import URL

from rota.core import signatures
from rota.core.alert_channels import AlertItem, AlertMessage, ChannelResult, MessageKind
from rota.core.alerts.messages import (
    NAME_BYTES_MAX,
    build_alert_document,
    neutralise_text,
    render_title,
)
from rota.core.clock import ClockSource
from rota.core.errors import InvalidInput, InvalidSetting
from rota.core.time import moments
from rota.executors.http.executor import read_response
from rota.executors.http.guard import METADATA_NETWORKS, TargetGuard, contains
from rota.executors.http.guarded_client import Lookup, SystemLookup, TargetRefused, open_session
from rota.executors.http.response import RETRYABLE_STATUSES
from rota.executors.http.target import HttpTarget, read_target
from rota.runtime.clock import SystemClock

ALERTS_PATH: Final = "/api/v2/alerts"
ERROR_BYTES_MAX: Final = 4096
# Thousands of open alerts.
DOCUMENT_BYTES_MAX: Final = 16 * 1024 * 1024
URL_WANTED: Final = "expected a URL such as {scheme}+https://user:password@host:port/path"
URL_PATTERN: Final = re.compile(
    r"(?P<kind>[a-z]+)\+(?P<scheme>https?)://(?:(?P<login>[^/?#]*)@)?(?P<rest>.*)", re.IGNORECASE
)
# Alertmanager ends an alert that is not sent again within five minutes, unless it says when. Rota
# sends each change once, so an open alert ends far later than any repetition.
OPEN_ALERT_DURATION: Final = timedelta(days=30)
# How long alerts stay that no later message ends: a test, a count of further incidents.
TEST_ALERT_DURATION: Final = timedelta(minutes=1)
COUNT_ALERT_DURATION: Final = timedelta(hours=1)
LABEL_NAME: Final = re.compile(r"[^A-Za-z0-9_]", re.ASCII)
OWN_LABELS: Final = frozenset(
    {"alertname", "severity", "tenant", "subject", "subject_kind", "incident", "group"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelAddress:
    """Where a channel leads. The login is never shown."""

    target: HttpTarget
    headers: Mapping[str, str] = field(repr=False)


def parse_channel_url(url: str, *, setting: str) -> ChannelAddress:
    """Parse alertmanager+http(s):// or webhook+http(s)://; errors never show the URL."""
    found = URL_PATTERN.fullmatch(url)
    if found is None:
        wanted = URL_WANTED.format(scheme=url.partition("+")[0].lower())
        raise InvalidSetting(setting, "***", wanted)
    try:
        target = read_target(f"{found['scheme'].lower()}://{found['rest']}", setting)
    except InvalidInput as error:
        raise InvalidSetting(setting, "***", error.wanted) from None
    headers = {}
    if found["login"] is not None:
        user, _, password = found["login"].partition(":")
        login = f"{unquote(user)}:{unquote(password)}".encode()
        headers["Authorization"] = f"Basic {b64encode(login).decode()}"
    return ChannelAddress(target=target, headers=headers)


def build_channel_guard(target: HttpTarget, *, deny_networks: Sequence[str] = ()) -> TargetGuard:
    """Return a guard that allows the host and port of this target in addition to public ones."""
    address = target.address
    if address is None:
        allowed: dict[str, Sequence[str]] = {"allow_hosts": [target.host]}
    elif contains(METADATA_NETWORKS, address):
        allowed = {}
    else:
        allowed = {"allow_networks": [f"{address}/{address.max_prefixlen}"]}
    return TargetGuard(allow_ports=[target.port], deny_networks=deny_networks, **allowed)


class ChannelClient:
    """Posts JSON to one address. Opens its connections when it sends for the first time."""

    def __init__(
        self,
        address: ChannelAddress,
        *,
        timeout: timedelta,
        deny_networks: Sequence[str] = (),
        lookup: Lookup | None = None,
    ) -> None:
        self._address = address
        self._timeout_s = timeout.total_seconds()
        self._guard = build_channel_guard(address.target, deny_networks=deny_networks)
        self._given_lookup = lookup
        self._system_lookup: SystemLookup | None = None
        self._session: ClientSession | None = None
        self._name = f"rota/{metadata.version('rota')}"

    async def post(
        self, body: bytes, headers: Mapping[str, str], *, path: str = ""
    ) -> ChannelResult:
        """Send a document. Never raises for a receiver that misbehaves."""
        _, result = await self._exchange("POST", body, headers, path)
        return result

    async def get_json(self, path: str) -> tuple[Any, ChannelResult]:
        """Read a document; it is None if the result has an error."""
        body, result = await self._exchange("GET", None, {"Accept-Encoding": "identity"}, path)
        if result.error is not None:
            return None, result
        try:
            return json.loads(body), result
        except ValueError:
            return None, ChannelResult(error="the service answered something else than JSON")

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
        if self._system_lookup is not None:
            self._system_lookup.close()

    async def _exchange(
        self, method: str, body: bytes | None, headers: Mapping[str, str], path: str
    ) -> tuple[bytes, ChannelResult]:
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._request(method, body, headers, path)
        except TargetRefused as refused:
            error = f"target refused: {refused.refusal.reason}"
            return b"", ChannelResult(error=error, final=True)
        except (ClientError, OSError, ValueError) as error:
            return b"", ChannelResult(error=describe_failure(error))

    async def _request(
        self, method: str, body: bytes | None, headers: Mapping[str, str], path: str
    ) -> tuple[bytes, ChannelResult]:
        target = self._address.target
        if refusal := self._guard.check_target(target):
            raise TargetRefused(refusal)
        url = f"{target.display_url.rstrip('/')}{path}" if path else target.url
        async with self._open_session().request(
            method,
            URL(url, encoded=True),
            data=body,
            headers={
                "Content-Type": "application/json",
                "User-Agent": self._name,
                **self._address.headers,
                **headers,
            },
            allow_redirects=False,
            timeout=ClientTimeout(total=None, sock_read=self._timeout_s),
        ) as response:
            if 200 <= response.status < 300:
                # What a receiver answers to an accepted message does not matter.
                document = await read_document(response) if method == "GET" else b""
                return document, ChannelResult()
            answer = await read_response(response, ERROR_BYTES_MAX)
        retry_after = answer.parse_retry_after()
        return b"", ChannelResult(
            error=describe_status(answer.status),
            final=answer.status < 500 and answer.status not in RETRYABLE_STATUSES,
            retry_after_s=None if retry_after is None else retry_after.total_seconds(),
        )

    def _open_session(self) -> ClientSession:
        if self._session is None:
            lookup = self._given_lookup
            if lookup is None:
                lookup = self._system_lookup = SystemLookup()
            self._session = open_session(self._guard, lookup)
        return self._session


class AlertmanagerChannel:
    """Sends one alert per incident to Alertmanager, which routes and repeats as its owner wants."""

    def __init__(self, client: ChannelClient) -> None:
        self._client = client

    async def send(self, message: AlertMessage, /) -> ChannelResult:
        if message.kind is MessageKind.ACKNOWLEDGED:
            # Alertmanager has no acknowledgement; its alert stays as it is.
            return ChannelResult()
        alerts = build_alerts(message)
        if message.kind is MessageKind.RESOLVED:
            # A message names some of its incidents only, and their severity may have changed.
            path = f"{ALERTS_PATH}?filter={quote(build_group_filter(message), safe='')}"
            open_alerts, result = await self._client.get_json(path)
            if result.error is not None:
                return result
            alerts += end_alerts(open_alerts, message.at)
        headers = {"Idempotency-Key": str(message.notification_id)}
        return await self._client.post(encode_json(alerts), headers, path=ALERTS_PATH)

    async def close(self) -> None:
        await self._client.close()


class WebhookAlertChannel:
    """Posts the message as JSON with a signature, as Standard Webhooks specifies."""

    def __init__(
        self, client: ChannelClient, *, keys: Sequence[bytes], clock: ClockSource | None = None
    ) -> None:
        self._client = client
        self._keys = tuple(keys)
        self._clock = clock or SystemClock()

    async def send(self, message: AlertMessage, /) -> ChannelResult:
        body = encode_json(build_alert_document(message))
        id_ = str(message.notification_id)
        signed = signatures.build_headers(body, self._keys, id=id_, at=self._clock.now())
        return await self._client.post(body, {**signed, "Idempotency-Key": id_})

    async def close(self) -> None:
        await self._client.close()


def build_alerts(message: AlertMessage) -> list[dict[str, Any]]:
    """Return the alerts of a message, as Alertmanager's API version 2 defines them."""
    alerts = [build_item_alert(message, item) for item in message.items]
    if message.more or not alerts:
        alerts.append(build_group_alert(message))
    return alerts


def build_item_alert(message: AlertMessage, item: AlertItem) -> dict[str, Any]:
    """Return the alert of an incident. Alerts of a digest end by themselves: no later message does
    that.
    """
    is_digest = message.kind is MessageKind.DIGEST
    ends_at = message.at + (COUNT_ALERT_DURATION if is_digest else OPEN_ALERT_DURATION)
    if item.resolved_at is not None or message.kind is MessageKind.RESOLVED:
        ends_at = item.resolved_at or message.at
    annotations = {
        "summary": neutralise_text(item.title),
        "count": str(item.count),
        "error": neutralise_text(item.error or ""),
        "last_success_at": render_optional(item.last_success_at),
    }
    labels = {
        **build_user_labels(item.labels),
        "alertname": build_alert_name(item.condition),
        "severity": item.severity.value,
        "tenant": neutralise_text(message.tenant, bytes_max=NAME_BYTES_MAX),
        "subject_kind": item.subject_kind,
        "subject": neutralise_text(item.subject_name, bytes_max=NAME_BYTES_MAX),
        "incident": str(item.incident_id),
        "group": neutralise_text(message.dedup_key, bytes_max=NAME_BYTES_MAX),
    }
    link = item.link or message.link
    return build_alert(labels, annotations, (item.opened_at, ends_at), link)


def build_group_filter(message: AlertMessage) -> str:
    """Return the matcher that finds all alerts of a message's group."""
    group = neutralise_text(message.dedup_key, bytes_max=NAME_BYTES_MAX)
    return f"group={json.dumps(group, ensure_ascii=False)}"


def end_alerts(open_alerts: Any, at: datetime) -> list[dict[str, Any]]:
    """Return alerts that Alertmanager lists, with their end."""
    if not isinstance(open_alerts, list):
        return []
    return [
        {
            "labels": alert["labels"],
            "annotations": alert.get("annotations", {}),
            "startsAt": alert["startsAt"],
            "endsAt": moments.to_rfc3339(at),
        }
        for alert in open_alerts
        if isinstance(alert, dict) and {"labels", "startsAt"} <= alert.keys()
    ]


def build_group_alert(message: AlertMessage) -> dict[str, Any]:
    """Return an alert for what is no single incident: a test, or a count of further ones."""
    if message.kind is MessageKind.TEST:
        name, ends_at = "RotaTest", message.at + TEST_ALERT_DURATION
    else:
        name, ends_at = "RotaMoreIncidents", message.at + COUNT_ALERT_DURATION
    if message.kind is MessageKind.RESOLVED:
        ends_at = message.at
    labels = {
        "alertname": name,
        "severity": message.severity.value,
        "tenant": neutralise_text(message.tenant, bytes_max=NAME_BYTES_MAX),
        "group": neutralise_text(message.dedup_key, bytes_max=NAME_BYTES_MAX),
    }
    annotations = {"summary": render_title(message), "count": str(message.more)}
    return build_alert(labels, annotations, (message.at, ends_at), message.link)


def build_alert(
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
    span: tuple[datetime, datetime],
    link: str | None,
) -> dict[str, Any]:
    starts_at, ends_at = span
    alert: dict[str, Any] = {
        "labels": dict(labels),
        "annotations": {name: text for name, text in annotations.items() if text},
        "startsAt": moments.to_rfc3339(min(starts_at, ends_at)),
        "endsAt": moments.to_rfc3339(ends_at),
    }
    return alert if link is None else {**alert, "generatorURL": link}


def build_alert_name(condition: str) -> str:
    """Return the name of an alert: `RotaFinishBy` for `finish_by`."""
    words = LABEL_NAME.sub("_", condition).split("_")
    return "Rota" + "".join(word.capitalize() for word in words)


def build_user_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels of a job with names that Alertmanager accepts; Rota's own win."""
    named = {}
    for name, value in labels.items():
        label = LABEL_NAME.sub("_", name)[:NAME_BYTES_MAX]
        label = f"_{label}" if label[:1].isdigit() else label
        text = neutralise_text(value, bytes_max=NAME_BYTES_MAX)
        if label and text and label not in OWN_LABELS:
            named[label] = text
    return named


async def read_document(response: ClientResponse) -> bytes:
    """Return the body of a response; raise `ValueError` if it is too long."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > DOCUMENT_BYTES_MAX:
            raise ValueError("the response is too long")
    return bytes(body)


def render_optional(moment: datetime | None) -> str:
    return "" if moment is None else moments.to_rfc3339(moment)


def encode_json(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def describe_status(code: int) -> str:
    try:
        return f"the service answered {code} ({HTTPStatus(code).phrase})"
    except ValueError:
        return f"the service answered {code}"


def describe_failure(error: BaseException) -> str:
    """Say what sort of failure it was; the text of the error may show the URL."""
    if isinstance(error, TimeoutError):
        return "no response in time"
    if isinstance(error, ClientConnectorDNSError):
        return "the name of the server could not be resolved"
    if isinstance(error, ssl.SSLError) or "SSL" in type(error).__name__:
        return "the TLS connection failed"
    return "no connection"
