"""A highly available PostgreSQL of two nodes: Patroni, etcd, and the embedded programs.

Each node is Patroni with its PostgreSQL below it, as one tree of processes that is killed or frozen
as a whole. Replication is synchronous: a commit is acknowledged when both nodes have it. It is not
`synchronous_mode_strict`, so one node alone goes on; with two nodes strict mode would stop every
write until the other node is back.
"""

import json
import shutil
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psycopg
import yaml

from rota.store.embedded.account import Account, choose_account
from tests.support.guarded import ProcessTree, wait_until
from tests.support.ports import find_free_ports
from tests.support.postgres import DATABASE, ROLE, find_programs, open_folder

ROOT: Final = Path(__file__).parents[2]
# The shortest that Patroni accepts. A leader that falls silent is replaced after TTL_S.
TTL_S: Final = 20
LOOP_WAIT_S: Final = 1
RETRY_TIMEOUT_S: Final = 3
START_S: Final = 90.0
ANSWER_S: Final = 2.0
PARAMETERS: Final = {
    "shared_buffers": "64MB",
    "max_connections": 100,
    "max_wal_size": "256MB",
    # In files of its own folder: a killed server leaves segments of shared memory behind.
    "dynamic_shared_memory_type": "mmap",
    "wal_keep_size": "128MB",
    "checkpoint_timeout": "30s",
}


@dataclass(kw_only=True)
class PatroniNode:
    name: str
    folder: Path
    port: int
    api_port: int
    tree: ProcessTree | None = None

    @property
    def url(self) -> str:
        """This node alone."""
        return f"postgresql://{ROLE}@127.0.0.1:{self.port}/{DATABASE}"

    @property
    def admin_url(self) -> str:
        """A database that is always there."""
        return f"postgresql://{ROLE}@127.0.0.1:{self.port}/postgres"

    def ask(self, path: str) -> Any:
        """Ask Patroni's REST API; None if this node does not answer."""
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{self.api_port}{path}", timeout=ANSWER_S
            ) as response:
                return json.load(response)
        except (OSError, ValueError):
            return None

    def is_writable(self) -> bool:
        """Whether PostgreSQL here takes writes now, asked by SQL."""
        try:
            with psycopg.connect(self.admin_url, connect_timeout=2, autocommit=True) as conn:
                row = conn.execute(
                    "select not pg_is_in_recovery() and not"
                    " current_setting('transaction_read_only')::boolean"
                ).fetchone()
        except psycopg.Error:
            return False
        return bool(row and row[0])


@dataclass(kw_only=True)
class PatroniCluster:
    folder: Path
    etcd: ProcessTree
    nodes: list[PatroniNode] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Both nodes in the order in which they were made. Rota finds out which takes writes."""
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        return f"postgresql://{ROLE}@{hosts}/{DATABASE}"

    def list_members(self) -> list[dict[str, Any]]:
        """The members as the first node that answers sees them."""
        for node in self.nodes:
            found = node.ask("/cluster")
            if found is not None:
                return list(found["members"])
        return []

    def find_leader(self) -> PatroniNode:
        """The node that holds the leader key."""
        names = [each["name"] for each in self.list_members() if each["role"] == "leader"]
        assert names, "no node is leader"
        return next(node for node in self.nodes if node.name == names[0])

    def other_node(self, node: PatroniNode) -> PatroniNode:
        return next(each for each in self.nodes if each is not node)

    def is_synchronous(self) -> bool:
        roles = {each["role"]: each["state"] for each in self.list_members()}
        return roles.get("leader") == "running" and roles.get("sync_standby") == "streaming"

    def switch_over(self, leader: PatroniNode) -> None:
        """Ask Patroni for another leader; answered when it is done, or was refused."""
        body = json.dumps({"leader": leader.name, "candidate": self.other_node(leader).name})
        request = urllib.request.Request(
            f"http://127.0.0.1:{leader.api_port}/switchover",
            data=body.encode(),
            headers={"Content-Type": "application/json"},
            method="POST",
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            assert response.status == 200, response.read().decode()

    def wait_for_leader(self, node: PatroniNode, *, within: float) -> float:
        """Wait until this node takes writes; the monotonic time at which it was seen."""
        wait_until(node.is_writable, f"{node.name} as the new leader", within=within)
        return time.monotonic()


@contextmanager
def running_patroni() -> Iterator[PatroniCluster]:
    """Two nodes that replicate synchronously, with an empty database for Rota."""
    etcd = shutil.which("etcd")
    assert etcd, "the tests need etcd: run `python3 tools/system_packages.py`"
    account = choose_account(Path("/nonexistent"))
    with open_folder("rota-patroni-", account) as folder:
        ports = find_free_ports(6)
        cluster = PatroniCluster(folder=folder, etcd=start_etcd(etcd, folder, ports))
        try:
            for number in range(2):
                place = folder / f"node{number + 1}"
                place.mkdir()
                account.own(place)
                node = PatroniNode(
                    name=place.name,
                    folder=place,
                    port=ports[2 + number],
                    api_port=ports[4 + number],
                )
                cluster.nodes.append(node)
                start_node(node, account=account, etcd_port=ports[0])
                if number == 0:
                    # Two nodes that start at once both try to make the cluster: one would wait.
                    wait_until(node.is_writable, f"{node.name} as leader", within=START_S)
                    create_database(node)
            wait_until(cluster.is_synchronous, "a synchronous standby", within=START_S)
            yield cluster
        except BaseException:
            keep_logs(folder)
            raise
        finally:
            for node in cluster.nodes:
                if node.tree is not None:
                    node.tree.end()
            cluster.etcd.end()


def start_etcd(program: str, folder: Path, ports: list[int]) -> ProcessTree:
    clients, peers = (f"http://127.0.0.1:{port}" for port in ports[:2])
    command = [
        *(program, "--name=etcd", f"--data-dir={folder / 'etcd'}", "--logger=zap"),
        *(f"--listen-client-urls={clients}", f"--advertise-client-urls={clients}"),
        *(f"--listen-peer-urls={peers}", f"--initial-advertise-peer-urls={peers}"),
        f"--initial-cluster=etcd={peers}",
    ]
    tree = ProcessTree.start("etcd", command, log=folder / "etcd.log")
    # Patroni waits long before it asks a second time.
    wait_until(lambda: is_healthy(clients), "etcd", within=START_S)
    return tree


def is_healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=ANSWER_S) as response:
            return bool(json.load(response)["health"] == "true")
    except (OSError, ValueError):
        return False


def start_node(node: PatroniNode, *, account: Account, etcd_port: int) -> None:
    """Start Patroni, which makes or copies the data and starts PostgreSQL."""
    config = node.folder / "patroni.yml"
    config.write_text(yaml.safe_dump(configure_node(node, account, etcd_port)))
    command = [sys.executable, "-m", "patroni", str(config)]
    owner: Account | None = account
    if not account.can_reach(Path(sys.executable).resolve()):
        command, owner = with_every_folder(command, account), None
    node.tree = ProcessTree.start(
        node.name, command, log=node.folder / "patroni.log", account=owner
    )


def with_every_folder(command: list[str], account: Account) -> list[str]:
    """Let a program of another user into private folders, such as the one that Python is in."""
    return [
        *("setpriv", f"--reuid={account.uid}", f"--regid={account.gid}", "--clear-groups"),
        *("--inh-caps=+dac_override", "--ambient-caps=+dac_override", *command),
    ]


def configure_node(node: PatroniNode, account: Account, etcd_port: int) -> dict[str, Any]:
    address = f"127.0.0.1:{node.port}"
    users = {"superuser": ROLE, "replication": "replicator", "rewind": "rewinder"}
    return {
        "scope": "rota",
        "name": node.name,
        "restapi": {
            "listen": f"127.0.0.1:{node.api_port}",
            "connect_address": f"127.0.0.1:{node.api_port}",
        },
        "etcd3": {"host": f"127.0.0.1:{etcd_port}"},
        "bootstrap": {
            "dcs": {
                "ttl": TTL_S,
                "loop_wait": LOOP_WAIT_S,
                "retry_timeout": RETRY_TIMEOUT_S,
                "synchronous_mode": True,
                "postgresql": {"use_pg_rewind": True, "parameters": PARAMETERS},
            },
            "initdb": [
                {"encoding": "UTF8"},
                {"locale": "C"},
                {"auth": "trust"},
                "data-checksums",
                "no-sync",
            ],
        },
        "postgresql": {
            "listen": address,
            "connect_address": address,
            "data_dir": str(node.folder / "data"),
            "bin_dir": str(find_programs(account).folder),
            "pgpass": str(node.folder / "pgpass"),
            "authentication": {use: {"username": name} for use, name in users.items()},
            # Else the copy waits for a checkpoint that is spread over half of its interval.
            "basebackup": [{"checkpoint": "fast"}, "no-sync"],
            "pg_hba": [
                "host all all 127.0.0.1/32 trust",
                "host replication all 127.0.0.1/32 trust",
            ],
            "parameters": {"unix_socket_directories": "."},
        },
    }


def create_database(node: PatroniNode) -> None:
    with psycopg.connect(node.admin_url, autocommit=True) as conn:
        conn.execute(f"create database {DATABASE}")


def keep_logs(folder: Path) -> None:
    """Put what the nodes said where it survives the folder, for whoever must find out why."""
    kept = Path(tempfile.mkdtemp(prefix="rota-cluster-logs-"))
    for log in (*folder.glob("*.log"), *folder.glob("*/patroni.log")):
        shutil.copy(log, kept / f"{log.parent.name}-{log.name}")
    sys.stderr.write(f"the logs of etcd and Patroni are in {kept}\n")
