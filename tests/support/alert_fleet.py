"""Processes that send alerts to a real webhook, and what the webhook received."""

import asyncio
import threading
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import asyncpg
from standardwebhooks import Webhook

from rota.sdk.client import Client
from tests.support.cluster import Cluster
from tests.support.ports import find_free_ports

CHANNEL = "ops"
SECRET = f"whsec_{b64encode(bytes(range(32))).decode()}"
HANDLERS = "tests.support.fleet_jobs:app"
PATIENCE_S = 60.0
LOOK_INTERVAL_S = 0.1


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message whose signature was verified."""

    id: str
    type: str
    data: Mapping[str, Any]

    @property
    def subjects(self) -> set[str]:
        return {incident["subject"]["name"] for incident in self.data["incidents"]}


class AlertWebhook(ThreadingHTTPServer):
    """Collects messages. Each answer takes `answer_s`, so that a sender can be killed meanwhile."""

    daemon_threads = True

    def __init__(self, *, answer_s: float = 0.0) -> None:
        super().__init__(("127.0.0.1", 0), AlertWebhookHandler)
        self.answer_s = answer_s
        self.messages: list[Message] = []
        self.ending = threading.Event()

    def list_of(self, type_: str, subject: str) -> list[Message]:
        return [
            message
            for message in list(self.messages)
            if message.type == type_ and subject in message.subjects
        ]

    def count_ids(self) -> Counter[str]:
        return Counter(message.id for message in list(self.messages))


class AlertWebhookHandler(BaseHTTPRequestHandler):
    server: AlertWebhook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        document = Webhook(SECRET).verify(body, dict(self.headers.items()))
        assert self.headers["webhook-id"] == self.headers["idempotency-key"]
        assert document["data"]["notification_id"] == self.headers["webhook-id"]
        # Received is received, whether or not the sender lives to read the answer.
        self.server.messages.append(
            Message(id=self.headers["webhook-id"], type=document["type"], data=document["data"])
        )
        self.server.ending.wait(self.server.answer_s)
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 — its own name
        pass


@contextmanager
def receive_messages(*, answer_s: float = 0.0) -> Iterator[AlertWebhook]:
    with AlertWebhook(answer_s=answer_s) as webhook:
        thread = threading.Thread(target=webhook.serve_forever)
        thread.start()
        try:
            yield webhook
        finally:
            webhook.ending.set()
            webhook.shutdown()
            thread.join()


@dataclass(kw_only=True)
class AlertFleet:
    """The processes, their API and their database."""

    cluster: Cluster
    client: Client
    database: str
    webhook: AlertWebhook
    looks: threading.Event = field(default_factory=threading.Event)

    def query(self, text: str, *values: object) -> list[asyncpg.Record]:
        return asyncio.run(self._query(text, values))

    async def _query(self, text: str, values: tuple[object, ...]) -> list[asyncpg.Record]:
        conn = await asyncpg.connect(self.database)
        try:
            return list(await conn.fetch(text, *values))
        finally:
            await conn.close()

    def wait_until(self, condition: Callable[[], Any], what: str) -> Any:
        """Look until the condition holds."""
        for _ in range(round(PATIENCE_S / LOOK_INTERVAL_S)):
            if found := condition():
                return found
            self.looks.wait(LOOK_INTERVAL_S)
        raise AssertionError(f"never happened: {what}")

    def rest(self, seconds: float) -> None:
        """Let the processes work; nothing is awaited."""
        self.looks.wait(seconds)


@contextmanager
def start_alert_fleet(
    folder: Path, database: str, webhook: AlertWebhook, *, schedulers: int = 1
) -> Iterator[AlertFleet]:
    """An API, schedulers and a worker; alerts without a route go to the webhook."""
    (port,) = find_free_ports(1)
    (folder / "rota.toml").write_text(
        f"[channels.{CHANNEL}]\n"
        f'url = "webhook+http://127.0.0.1:{webhook.server_port}/alerts"\n'
        f'secrets = ["{SECRET}"]\n'
        'tenants = ["*"]\n'
        "default = true\n"
        "pages_per_hour = 3600\n"
    )
    settings = {
        "ROTA_CONFIG": str(folder / "rota.toml"),
        "ROTA_DATA": str(folder / "home"),
        "ROTA_DATABASE_URL": database,
        "ROTA_API__PORT": str(port),
        "ROTA_WORKER__LEASE": "3s",
        "ROTA_WORKER__BEAT_EVERY": "1s",
        "ROTA_WORKER__STOP_AFTER": "2s",
    }
    cluster = Cluster(folder=folder, settings=settings)
    try:
        cluster.add("api", "api")
        for number in range(schedulers):
            cluster.add(f"scheduler-{number}", "scheduler")
        cluster.add("worker", "worker", HANDLERS)
        key_file = folder / "home" / "admin.key"
        with Client(f"http://127.0.0.1:{port}", key=wait_for_key(key_file)) as client:
            fleet = AlertFleet(cluster=cluster, client=client, database=database, webhook=webhook)
            # The API accepts the name of a channel once a scheduler reported it.
            channels = "select 1 from rota.alert_channels where name = $1"
            fleet.wait_until(lambda: fleet.query(channels, CHANNEL), "a known channel")
            fleet.wait_until(lambda: len(client.list_targets()) >= schedulers + 2, "all processes")
            yield fleet
    finally:
        cluster.close()


def wait_for_key(file: Path) -> str:
    looks = threading.Event()
    for _ in range(round(PATIENCE_S / LOOK_INTERVAL_S)):
        if file.exists() and (key := file.read_text().strip()):
            return key
        looks.wait(LOOK_INTERVAL_S)
    raise AssertionError("the API wrote no key")


def build_failing_jobs(number: int, *, first_tick: str) -> list[dict[str, Any]]:
    """Jobs that fail once soon; each has an expectation of its own, so each sends a message."""
    return [
        {
            "name": f"failing {place:03}",
            "kind": "fleet.fail",
            "payload": {},
            "schedule": {"every": {"interval": "1h", "anchor": first_tick}},
            "expect": {"failures": {"streak": 1}},
            "alert": {"to": CHANNEL, "severity": "page"},
        }
        for place in range(number)
    ]
