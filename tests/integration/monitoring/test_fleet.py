"""Real Prometheus and Alertmanager watch a real fleet: discovery, alerts and dashboards."""

import json
import re
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.alertmanager import alertmanager_in
from tests.support.brokers import running, wait_for
from tests.support.cluster import Cluster, Member
from tests.support.ports import find_free_ports

from rota.engine.observability.monitoring.dashboards import DASHBOARDS, Query
from rota.engine.observability.monitoring.rules import build_rules
from rota.sdk.client import Client

PATIENCE_S = 60.0
LOOK_INTERVAL_S = 0.2
HANDLERS = "tests.support.fleet_jobs:app"
# Series that this fleet cannot have: nothing fails for good, no channel and no webhook exists.
WITHOUT_SERIES = frozenset({"rota_notifications_total", "rota_deliveries_total"})


@dataclass(kw_only=True)
class Fleet:
    """The processes and the address of their API."""

    cluster: Cluster
    client: Client
    key_file: Path
    url: str
    workers: list[Member]


class AlertReceiver(ThreadingHTTPServer):
    """A webhook that collects what Alertmanager sends: name and status of each alert."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), AlertHandler)
        self.alerts: list[tuple[str, str]] = []
        self.url = f"http://127.0.0.1:{self.server_port}/"


class AlertHandler(BaseHTTPRequestHandler):
    server: AlertReceiver

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        for alert in body["alerts"]:
            self.server.alerts.append((alert["labels"]["alertname"], alert["status"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 — its own name
        pass


@contextmanager
def receive_alerts() -> Iterator[AlertReceiver]:
    with AlertReceiver() as receiver:
        thread = threading.Thread(target=receiver.serve_forever)
        thread.start()
        try:
            yield receiver
        finally:
            receiver.shutdown()
            thread.join()


@contextmanager
def start_fleet(folder: Path) -> Iterator[Fleet]:
    """An API, a scheduler and a worker, each a process."""
    (port,) = find_free_ports(1)
    settings = {
        "ROTA_DATA": str(folder / "home"),
        "ROTA_API__PORT": str(port),
        "ROTA_WORKER__LEASE": "3s",
        "ROTA_WORKER__BEAT_EVERY": "1s",
        "ROTA_WORKER__STOP_AFTER": "2s",
    }
    cluster = Cluster(folder=folder, settings=settings)
    try:
        cluster.add("api", "api")
        cluster.add("scheduler", "scheduler")
        worker = cluster.add("worker", "worker", HANDLERS)
        key_file = folder / "home" / "admin.key"
        url = f"http://127.0.0.1:{port}"
        wait_until(key_file.exists, "the key of the API")
        key = key_file.read_text().strip()
        with Client(url, key=key) as client:
            wait_until(lambda: len(client.list_targets()) >= 3, "three targets")
            yield Fleet(
                cluster=cluster, client=client, key_file=key_file, url=url, workers=[worker]
            )
    finally:
        cluster.close()


@contextmanager
def start_prometheus(folder: Path, fleet: Fleet, *, alertmanager: str) -> Iterator[str]:
    """Prometheus with the shipped rules, which wait seconds where they would wait minutes."""
    (port,) = find_free_ports(1)
    rules = build_rules()
    for group in rules["groups"]:
        group["interval"] = "1s"
        for rule in group["rules"]:
            if "for" in rule:
                rule["for"] = "2s"
    (folder / "rules.yml").write_text(yaml.safe_dump(rules))
    authorization = {"type": "Bearer", "credentials_file": str(fleet.key_file)}
    configuration = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(folder / "rules.yml")],
        "alerting": {
            "alertmanagers": [
                {"static_configs": [{"targets": [alertmanager.removeprefix("http://")]}]}
            ]
        },
        "scrape_configs": [
            {
                "job_name": "rota",
                "http_sd_configs": [
                    {
                        "url": f"{fleet.url}/v1/targets",
                        "refresh_interval": "1s",
                        "authorization": authorization,
                    }
                ],
            },
        ],
    }
    file = folder / "prometheus.yml"
    file.write_text(yaml.safe_dump(configuration))
    arguments = (
        f"--config.file={file}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--enable-feature=exemplar-storage",
    )
    url = f"http://127.0.0.1:{port}"
    with running(folder, "prometheus", *arguments) as process:
        wait_for(process, lambda: can_query(url))
        yield url


def can_query(url: str) -> bool:
    try:
        return bool(run_query(url, "vector(1)"))
    except OSError:
        return False


def run_query(url: str, expr: str) -> list[Any]:
    query = urllib.parse.urlencode({"query": expr})
    with urllib.request.urlopen(f"{url}/api/v1/query?{query}", timeout=10) as answer:
        return list(json.load(answer)["data"]["result"])


def wait_until(condition: Any, what: str) -> Any:
    """Look until the condition holds."""
    rest = threading.Event()
    for _ in range(round(PATIENCE_S / LOOK_INTERVAL_S)):
        if found := condition():
            return found
        rest.wait(LOOK_INTERVAL_S)
    raise AssertionError(f"never happened: {what}")


def wait_for_alert(receiver: AlertReceiver, name: str, status: str) -> None:
    wait_until(lambda: (name, status) in receiver.alerts, f"{name} {status}")


def fill_variables(expr: str) -> str:
    """Fill in what Grafana would: the range of a rate and the chosen tasks."""
    return expr.replace("$__rate_interval", "30s").replace("$task", ".*")


def name_metrics(expr: str) -> set[str]:
    return set(re.findall(r"\b(?:rota|process)_[a-z_]+\b(?=[\[{) ]|$)", expr))


def test_prometheus_discovers_a_fleet_and_reports_lost_workers_until_they_are_back(
    tmp_path: Path,
) -> None:
    with (
        receive_alerts() as receiver,
        watch_fleet(tmp_path, receiver.url) as (fleet, prometheus),
    ):

        def find_roles() -> set[str]:
            found = run_query(prometheus, "rota_build_info")
            return {series["metric"]["role"] for series in found}

        wait_until(lambda: find_roles() == {"api", "scheduler", "worker"}, "three roles")
        fleet.workers[0].end()
        fleet.client.create_job(name="echo", kind="fleet.echo", payload={})
        wait_for_alert(receiver, "RotaQueueWithoutWorker", "firing")
        assert ("RotaNoScheduler", "firing") not in receiver.alerts
        fleet.workers[0].start()
        wait_for_alert(receiver, "RotaQueueWithoutWorker", "resolved")


@contextmanager
def watch_fleet(folder: Path, webhook: str) -> Iterator[tuple[Fleet, str]]:
    (folder / "alertmanager").mkdir()
    with (
        start_fleet(folder) as fleet,
        alertmanager_in(folder / "alertmanager", webhook=webhook) as alertmanager,
        start_prometheus(folder, fleet, alertmanager=alertmanager) as prometheus,
    ):
        yield fleet, prometheus


@pytest.fixture
def watched_fleet(tmp_path: Path) -> Iterator[tuple[Fleet, str]]:
    with watch_fleet(tmp_path, "http://127.0.0.1:9/") as both:
        yield both


def test_every_dashboard_query_has_a_result(watched_fleet: tuple[Fleet, str]) -> None:
    fleet, prometheus = watched_fleet
    fleet.client.create_job(name="ticking", kind="fleet.echo", payload={}, schedule={"every": "1s"})
    fleet.client.create_job(name="failing", kind="fleet.fail", payload={}, schedule={"every": "1s"})
    queries = {
        query
        for dashboard in DASHBOARDS
        for panel in dashboard.panels
        for query in panel.queries
        if not name_metrics(query.expr) & WITHOUT_SERIES
    }
    unanswered = set(queries)

    def ask() -> bool:
        for query in list(unanswered):
            if run_query(prometheus, fill_variables(query.expr)):
                unanswered.discard(query)
        return not unanswered

    try:
        wait_until(ask, "a result of every query")
    except AssertionError:
        pytest.fail("no result: " + "; ".join(sorted(query.expr for query in unanswered)))
    assert all(isinstance(query, Query) for query in queries)
