"""What the executors tell their runs depend on, and whether it answered (E8)."""

from typing import Any

import pytest

from rota.core.outcome import Failed
from rota.executors.http import HttpExecutor, WebhookExecutor, build_webhook_signing
from rota.executors.notify import NotifyChannel, NotifyExecutor
from rota.executors.notify.executor import build_outcome
from rota.executors.notify.send_result import SendResult
from rota.executors.sql import EtlExecutor, SqlConnection, SqlConnections, SqlExecutor
from rota.executors.sql.faults import SqlFault

CONNECTIONS = SqlConnections(
    [
        SqlConnection(name="shop", url="postgresql://me@db/shop"),
        SqlConnection(name="lake", url="postgresql://me@db/lake"),
    ]
)
HTTP = HttpExecutor()
WEBHOOK = WebhookExecutor(
    {"partner": build_webhook_signing(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])}
)
NOTIFY = NotifyExecutor({name: NotifyChannel(url="json://localhost") for name in ("ops", "oncall")})
SQL = SqlExecutor(connections=CONNECTIONS)
ETL = EtlExecutor(connections=CONNECTIONS)


def extract(source: str, target: str) -> dict[str, Any]:
    return {
        "extract": [{"name": "a", "from": {"connection": source, "query": "select 1"}}],
        "load": {"to": {"connection": target, "table": "sales.daily"}},
    }


@pytest.mark.parametrize(
    ("executor", "payload", "target"),
    [
        (HTTP, {"url": "https://Example.org/a?b=c"}, "example.org:443"),
        (HTTP, {"url": "http://example.org"}, "example.org:80"),
        (HTTP, {"url": "http://[2001:db8::1]:8080/"}, "[2001:db8::1]:8080"),
        (
            WEBHOOK,
            {"webhook": "partner", "url": "https://p.example/", "type": "a"},
            "p.example:443",
        ),
        (SQL, {"connection": "shop", "query": "select 1"}, "connection:shop"),
        (ETL, extract("shop", "shop"), "connection:shop"),
        (ETL, extract("shop", "lake"), None),
        (NOTIFY, {"channel": "ops", "body": "done"}, "channel:ops"),
        (NOTIFY, {"channel": ["ops", "oncall"], "body": "done"}, None),
    ],
)
def test_a_run_depends_on_the_one_thing_that_its_payload_names(
    executor: Any, payload: dict[str, Any], target: str | None
) -> None:
    spec = executor.read(executor.kinds[0], payload)

    assert executor.target_of(spec) == target


@pytest.mark.parametrize(
    ("type_", "reached"),
    [
        ("connection", False),
        ("sqlstate 08006", False),
        ("sqlstate 57P03", False),
        ("sqlstate 53300", False),
        ("mysql 2003", False),
        ("sqlstate 40001", None),
        ("sqlstate 42601", None),
        ("mysql 1064", None),
        ("no rows", None),
    ],
)
def test_a_database_that_is_away_is_told_from_one_that_refuses(
    type_: str, reached: bool | None
) -> None:
    assert SqlFault(type_=type_, message="", final=False).to_failed().reached is reached


@pytest.mark.parametrize(
    ("type_", "reached"),
    [("network", False), ("timeout", False), ("http 503", False), ("http 429", None)],
)
def test_a_service_that_is_away_is_told_from_one_that_refuses(
    type_: str, reached: bool | None
) -> None:
    spec = NOTIFY.read("notify", {"channel": "ops", "body": "done"})

    outcome = build_outcome(spec, {"ops": SendResult(type=type_, message="no")})

    assert isinstance(outcome, Failed)
    assert outcome.reached is reached
