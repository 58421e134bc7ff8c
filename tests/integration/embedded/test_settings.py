"""The settings fit the machine, and the server takes them all. Proves O1 and F50."""

from pathlib import Path

import pytest
from tests.integration.embedded.conftest import ask

from rota.store.embedded import log, machine, start
from rota.store.embedded.machine import Machine
from rota.store.embedded.settings import GB, MB, OPTIONAL_SETTINGS, tune_server

LAPTOP = Machine(
    memory=16 * GB,
    free_disk=200 * GB,
    shared_memory=8 * GB,
    platform="linux",
    syncs_at_once=True,
)


def chosen(**figures: int | str | bool) -> dict[str, str]:
    fields = {name: getattr(LAPTOP, name) for name in Machine.__slots__} | figures
    return {
        row.name: row.value for row in tune_server(Machine(**fields), supported=OPTIONAL_SETTINGS)
    }


@pytest.mark.parametrize(
    ("memory", "buffers"),
    [(256 * MB, "128MB"), (4 * GB, "512MB"), (16 * GB, "2048MB"), (512 * GB, "4096MB")],
)
def test_shared_buffers_are_an_eighth_of_the_memory_within_bounds(
    memory: int, buffers: str
) -> None:
    assert chosen(memory=memory)["shared_buffers"] == buffers


@pytest.mark.parametrize(
    ("free", "most"), [(1 * GB, "256MB"), (20 * GB, "2048MB"), (900 * GB, "4096MB")]
)
def test_the_log_may_take_a_tenth_of_the_free_disk_within_bounds(free: int, most: str) -> None:
    assert chosen(free_disk=free)["max_wal_size"] == most


def test_a_small_shared_memory_is_not_relied_on() -> None:
    assert chosen(shared_memory=64 * MB)["dynamic_shared_memory_type"] == "mmap"
    assert chosen()["dynamic_shared_memory_type"] == "posix"


def test_macos_is_told_to_reach_the_disk_and_not_only_its_cache() -> None:
    assert chosen(platform="darwin")["wal_sync_method"] == "fsync_writethrough"
    assert "wal_sync_method" not in chosen()


def test_every_setting_has_a_reason_and_a_name_of_its_own() -> None:
    rows = tune_server(LAPTOP, supported=())

    assert all(row.reason for row in rows)
    assert len({row.name for row in rows}) == len(rows)


def test_the_server_runs_with_every_setting_of_the_table(home: Path) -> None:
    with start(home) as server:
        from_file = "source = 'configuration file'"
        question = f"select array_agg(lower(name)) from pg_settings where {from_file}"
        taken = set(ask(server.url, question))

    assert taken == {
        row.name.lower()
        for row in tune_server(machine.measure_machine(home), supported=OPTIONAL_SETTINGS)
    }


def test_a_long_log_is_put_aside_and_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    with log.open_for_append(path) as writer:
        writer.write(b"old\n" * (log.LOG_MAX_BYTES // 4 + 1))

        log.trim_log(path)
        writer.write(b"new\n")

    assert path.read_bytes() == b"new\n"
    assert path.with_name("server.log.1").stat().st_size > log.LOG_MAX_BYTES
