"""Declares the settings of channels: where alerts and `notify` jobs send messages.

Every process that sends reads them: schedulers for alerts, workers for `notify` jobs. URLs may
refer to secrets that are stored elsewhere (secret_references.py).
"""

from datetime import timedelta
from typing import Annotated, Literal

from msgspec import Meta, Struct

from rota.config.declarations import (
    MINUTE,
    SECOND,
    TENANT_LIST,
    TENANTS_MAX,
    TenantNames,
    choice,
    number,
    span,
    text,
)

URL_WANTED = (
    "a URL such as mailto://rota:${MAIL_PASSWORD}@example.org, slack://…, pagerduty://…, "
    "alertmanager+https://… or webhook+https://…"
)


class ChannelSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A service to which Rota sends alerts and the messages of `notify` jobs."""

    url: Annotated[
        str,
        text(
            URL_WANTED,
            "Service, account and recipients: an Apprise URL, alertmanager+http(s)://… or "
            "webhook+http(s)://…; see docs/howto/channels.md. Required.",
            secret=True,
            min_length=1,
            max_length=4096,
        ),
    ]
    tenants: Annotated[
        TenantNames,
        text(
            TENANT_LIST,
            'Tenants whose alerts and jobs may use it, or ["*"] for all. Required.',
            min_length=1,
            max_length=TENANTS_MAX,
        ),
    ]
    default: Annotated[
        bool,
        choice("Whether it receives the alerts of its tenants that name no route. Default: false."),
    ] = False
    severity: Annotated[
        Literal["info", "warning", "page"],
        choice('Least severity of the alerts that it receives. Default: "info", which is all.'),
    ] = "info"
    recovery: Annotated[
        bool,
        choice(
            "Whether it receives a message when an incident ends. PagerDuty, Jira Service "
            "Management and Alertmanager always do, because they would stay open. Default: true."
        ),
    ] = True
    messages_per_hour: Annotated[
        int,
        number(
            1,
            3600,
            "Maximum alerts per hour; the rest is summarised in a digest. Default: 30.",
        ),
    ] = 30
    pages_per_hour: Annotated[
        int,
        number(
            0,
            3600,
            "Further alerts per hour, reserved for severity `page`. Default: 10.",
        ),
    ] = 10
    secrets: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=512)], ...],
        text(
            "a list of secrets such as ${ALERT_SECRET}, each whsec_ and the base64 of 24 to 64 "
            "bytes",
            "Secrets that sign the requests of a webhook+http(s) channel. List both while you "
            "rotate one. Required for such a channel. Default: [].",
            secret=True,
            max_length=4,
        ),
    ] = ()
    allow_to: Annotated[
        bool,
        choice(
            "Whether the payload of a `notify` job may name other recipients. E-mail only. "
            "Default: false."
        ),
    ] = False
    timeout: Annotated[
        timedelta, span(SECOND, 5 * MINUTE, "Maximum time to send one message. Default: 30 s.")
    ] = 30 * SECOND

    def __repr__(self) -> str:
        return f"{type(self).__name__}(url='***', tenants={self.tenants}, …)"
