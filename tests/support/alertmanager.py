"""A real Alertmanager in a folder, which sends what it gets to one webhook at once."""

import contextlib
import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.brokers import running, wait_for
from tests.support.ports import find_free_ports

CONFIGURATION = """
route:
  receiver: test
  group_by: [alertname, subject]
  group_wait: 0s
  group_interval: 1s
  repeat_interval: 1h
receivers:
  - name: test
    webhook_configs:
      - url: {url}
        send_resolved: true
"""


@contextlib.contextmanager
def alertmanager_in(folder: Path, *, webhook: str) -> Iterator[str]:
    """Yield the address of an Alertmanager without a cluster."""
    (port,) = find_free_ports(1)
    file = folder / "alertmanager.yml"
    file.write_text(CONFIGURATION.format(url=webhook))
    arguments = (
        f"--config.file={file}",
        f"--storage.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
    )
    url = f"http://127.0.0.1:{port}"
    with running(folder, "prometheus-alertmanager", *arguments) as process:
        wait_for(process, lambda: is_ready(url))
        yield url


def is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/-/ready", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def read_active_alerts(url: str) -> list[Any]:
    """The alerts that are open, as Alertmanager lists them."""
    with urllib.request.urlopen(f"{url}/api/v2/alerts", timeout=5) as answer:
        return list(json.load(answer))
