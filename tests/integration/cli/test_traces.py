"""A trace through a real process: from a caller to the spans of a handler (O6)."""

import json
import re
import signal
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import urllib3
from tests.integration.cli.test_up import ended, said_when_up, started
from tests.support.collecting import collecting
from tests.support.shop import CLOCK

from rota.core.time import moments

CALLER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
SHOP = """
from opentelemetry import trace

import rota

app = rota.App("shop")
tracer = trace.get_tracer("shop")


@app.job()
def pay(order: str) -> None:
    with tracer.start_as_current_span("charge the card"):
        pass
"""


def submit(url: str, key: str, **job: Any) -> Any:
    headers = {"Authorization": f"Bearer {key}", "traceparent": CALLER}
    answer = urllib3.request(
        "POST",
        f"{url}/v1/jobs",
        json={"kind": "shop.pay", "payload": {"order": "4711"}, **job},
        headers=headers,
    )
    assert answer.status == 201, answer.data
    return json.loads(answer.data)


def test_a_trace_leads_from_the_caller_to_what_the_handler_did(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    with (
        collecting() as collector,
        started(
            tmp_path,
            "shop:app",
            ROTA_TRACES__ENDPOINT=collector.url,
            ROTA_TRACES__HEADERS="x-key: ${COLLECTOR_KEY}",
            COLLECTOR_KEY="told nobody",
        ) as process,
    ):
        url = str(re.findall(r"API at (\S+),", said_when_up(process))[0])
        key = (tmp_path / ".rota" / "admin.key").read_text().strip()
        soon = moments.to_rfc3339(CLOCK.now() + timedelta(seconds=3))
        later = submit(url, key, schedule_time=soon)
        made = submit(url, key)
        collector.wait_for("charge the card", 2)
        # What ended a moment ago is sent before the process ends.
        submit(url, key, name="the last")
        process.send_signal(signal.SIGTERM)
        code, errors = ended(process)

    assert (code, "Traceback" in errors) == (0, False)
    run_id = UUID(made["run_id"].removeprefix("run_"))
    attempt, charge = collector.of(run_id)
    assert (attempt.name, attempt.parent) == ("attempt shop.pay", "")
    assert (charge.name, charge.parent) == ("charge the card", attempt.id)
    asked = collector.named("POST /v1/jobs")
    assert len(asked) == 3
    assert {(span.trace, span.parent) for span in asked} == {tuple(CALLER.split("-")[1:3])}
    assert (run_id.hex, attempt.id) in {link for span in asked for link in span.links}
    (fire,) = collector.named("fire")
    assert later["run_id"] is None
    assert set(fire.links) < {(span.trace, span.id) for span in collector.named("attempt shop.pay")}
    assert len(fire.links) == 1
    assert {told["x-key"] for told in collector.headers} == {"told nobody"}
