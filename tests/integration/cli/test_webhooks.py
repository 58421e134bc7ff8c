"""`rota webhooks`: a whole Rota tells a real receiver what happens, and each command once (I7)."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

import pytest
from standardwebhooks import Webhook
from tests.support.installation import Installation, installed, until

from rota.sdk import webhooks


class Receiver(ThreadingHTTPServer):
    """Keeps what it gets, and answers with `status`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ReceivingHandler)
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.status = 200

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def list_types(self, path: str) -> list[str]:
        return [json.loads(body)["type"] for seen, _, body in self.requests if seen == path]


class ReceivingHandler(BaseHTTPRequestHandler):
    server: Receiver
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append((self.path, headers, body))
        self.send_response(self.server.status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_arguments: Any) -> None: ...


@contextmanager
def receiving() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


@pytest.fixture(scope="module")
def open_rota(
    receiver: Receiver, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    """An installation whose operator lets webhooks reach this machine."""
    folder = tmp_path_factory.mktemp("webhooks")
    (folder / "rota.toml").write_text(
        f"""[executors]
http_allow_networks = ["127.0.0.1/32"]
http_allow_ports = [{receiver.server_port}]
"""
    )
    with installed(folder) as found:
        yield found


def test_a_failed_run_reaches_the_receiver_and_the_log(
    open_rota: Installation, receiver: Receiver
) -> None:
    rota, path = open_rota.rota, f"/{uuid4().hex}"
    made = rota(
        *("webhooks", "create", receiver.url + path, "--allow-http", "--name", path),
        *("--on", "run.failed", "--on", "job.*", "--label", "team=billing"),
    )
    assert made.code == 0, made.err
    secret = made.out.strip()
    job: dict[str, Any] = {"kind": "kit.fail", "schedule": {"on_demand": True}}
    billing = open_rota.client.create_job(name=f"a {path}", labels={"team": "billing"}, **job)
    other = open_rota.client.create_job(name=f"b {path}", **job)
    for each in (other, billing):
        open_rota.client.run_job_now(each.job_id)

    until(lambda: "run.failed" in receiver.list_types(path), "the failure")
    ((_, headers, body),) = [
        seen for seen in receiver.requests if seen[0] == path and b"run.failed" in seen[2]
    ]
    Webhook(secret).verify(body, headers)
    received = webhooks.verify(headers, body, secret)
    data = received.json()["data"]
    assert (data["job"], data["labels"]) == (f"a {path}", {"team": "billing"})
    assert data["error"]["message"] == "customer 4711 does not exist"
    until(lambda: "job.created" in receiver.list_types(path), "the creation")

    delivered = rota("webhooks", "log", path, "--type", "run.failed", "--json").json
    assert [row["state"] for row in delivered] == ["delivered"]
    detail = rota("webhooks", "log", path, delivered[0]["delivery_id"]).json
    assert detail["body"] == json.loads(body)
    assert detail["event_id"] == headers["webhook-id"]


def test_each_command_once(open_rota: Installation, receiver: Receiver) -> None:
    rota, name = open_rota.rota, uuid4().hex
    path = f"/{name}"
    created = rota(
        "webhooks", "create", receiver.url + path, "--allow-http", "--name", name, "--quiet"
    )
    assert created.out.startswith("whsec_")

    tested = rota("webhooks", "test", name)
    assert (tested.code, tested.out) == (0, f"{name}: delivered, answered 200\n")
    receiver.status = 503
    try:
        failed = rota("webhooks", "test", name)
    finally:
        receiver.status = 200
    assert (failed.code, failed.out) == (1, f"{name}: failed: answered 503\n")
    shown = rota("webhooks", "show", name)
    assert "run.failed run.lost run.missed" in shown.out
    assert name in rota("webhooks", "list").out
    edited = rota("webhooks", "edit", name, "--on", "run.*", "--match", "labels.team=billing")
    assert (edited.code, edited.out) == (0, f"Changed webhook {name}, version 2\n")
    narrowed = rota("webhooks", "show", name).out
    assert ("run.*" in narrowed, "team=billing" in narrowed) == (True, True)
    assert rota("webhooks", "edit", name, "--no-match").code == 0
    assert "team=billing" not in rota("webhooks", "show", name).out
    assert rota("webhooks", "edit", name).code == 64

    assert rota("webhooks", "disable", name).code == 0
    assert "disabled (manual)" in rota("webhooks", "list").out
    undecided = rota("webhooks", "enable", name)
    assert (undecided.code, "held: required" in undecided.err) == (64, True)
    enabled = rota("webhooks", "enable", name, "--held", "drop", "--yes")
    assert enabled.out == f"Enabled {name}; dropped 1 held deliveries\n"
    replayed = rota("webhooks", "replay", name, "--state", "dropped", "--yes")
    assert replayed.out == "Scheduled 1 deliveries\n"
    until(lambda: receiver.list_types(path).count("webhook.test") == 3, "the replay")
    (row, *_) = rota("webhooks", "log", name, "--json").json
    assert rota("webhooks", "replay", name, row["delivery_id"]).code == 0

    rotated = rota("webhooks", "rotate", name, "--yes", "--quiet")
    assert rotated.out.startswith("whsec_")
    assert rotated.out != created.out
    assert rota("webhooks", "delete", name, "--yes").code == 0
    assert rota("webhooks", "show", name).code == 66


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("http://hook.example/",), "allow_http"),
        (("https://10.0.0.1/",), "not a public address"),
        (("https://hook.example/", "--on", "run.faild"), "did you mean run.failed"),
        (("https://127.0.0.1:1/",), "port 1 is not open"),
    ],
)
def test_what_is_wrong_with_a_subscription_is_said(
    open_rota: Installation, arguments: tuple[str, ...], text: str
) -> None:
    refused = open_rota.rota("webhooks", "create", *arguments)

    assert refused.code != 0
    assert text in refused.err
