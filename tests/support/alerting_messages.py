"""Messages about incidents, and text that tries to do harm."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from rota.core.alert_channels import AlertItem, AlertMessage, MessageKind
from rota.core.alerts.finding import Severity

OPENED_AT = datetime(2026, 11, 18, 6, 0, tzinfo=UTC)
HOSTILE = (
    "<!channel> <!here|here> <@U123ABC> @everyone @here @channel x@everyone @**all** <at>all</at> "
    "<https://evil.example|your bank> [your bank](https://evil.example) ![](https://evil.example/p)"
    " <script>alert(1)</script> <b onmouseover=x>bold</b> <a href='https://evil.example'>bank</a>"
    " \u202egnp.exe \u2066x\u2069 \u200b\ufeff \x00\x07\x1b[31mred\r\nBcc: eve@evil.example\r\n\r\n"
    "next & last"
)
# What no receiver may find in any text of a message.
HARMFUL = (
    *("<!", "<@", "@everyone", "@here", "@channel", "@**", "<at", "<https", "](", "<script"),
    *("<b on", "<a href", "\u202e", "\u2066", "\u200b", "\ufeff", "\x00", "\x07", "\x1b"),
    *("&lt;!channel&gt;", "eve@evil.example"),
)


def build_item(**given: Any) -> AlertItem:
    fields: dict[str, Any] = {
        "incident_id": UUID(int=1),
        "title": "nightly report failed 3 times in a row",
        "subject_kind": "job",
        "subject_name": "nightly report",
        "condition": "failure_streak",
        "severity": Severity.WARNING,
        "opened_at": OPENED_AT,
        "error": "ValueError: no rows",
        "count": 3,
        "link": "https://rota.example/incidents/1",
        "labels": {"team": "billing"},
    }
    return AlertItem(**fields | given)


def build_message(*items: AlertItem, **given: Any) -> AlertMessage:
    fields: dict[str, Any] = {
        "notification_id": UUID(int=7),
        "dedup_key": "9d2f/failure_streak/1",
        "kind": MessageKind.OPENED,
        "severity": Severity.WARNING,
        "tenant": "default",
        "title": "nightly report failed 3 times in a row",
        "items": items or (build_item(),),
        "link": "https://rota.example/incidents",
        "at": OPENED_AT,
    }
    return AlertMessage(**fields | given)


def build_hostile_message() -> AlertMessage:
    """A message in which every text comes from a stranger."""
    return build_message(
        build_item(
            title=HOSTILE, subject_name=HOSTILE, error=HOSTILE, labels={"team": HOSTILE, "x": "y"}
        ),
        title=HOSTILE,
        tenant=HOSTILE,
        facts={"note": HOSTILE, HOSTILE: 1},
    )
