"""Starting a server in a folder: the first time, again, and together with others. Proves O1."""

import asyncio
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.embedded.conftest import ask, await_stop

from rota.core.errors import EmbeddedFailed, InvalidSetting
from rota.store.embedded import EmbeddedOptions, start

DURABILITY = ("fsync", "synchronous_commit", "full_page_writes")


def test_a_home_made_from_nothing_keeps_its_data_over_a_restart(area: Path) -> None:
    with start(area / "deep" / "home") as server:
        ask(server.url, "create table kept (id int)")
        ask(server.url, "insert into kept values (7)")
    await_stop(server.home)

    with start(area / "deep" / "home") as again:
        assert ask(again.url, "select id from kept") == 7
        assert again.version.split(".")[0].isdigit()


def test_a_durable_server_says_itself_that_it_is_durable(home: Path) -> None:
    with start(home) as server:
        assert [ask(server.url, f"show {name}") for name in DURABILITY] == ["on"] * 3


def test_not_even_the_file_of_alter_system_turns_durability_off(home: Path) -> None:
    with start(home):
        pass
    await_stop(home)
    own = home / "data" / "postgresql.auto.conf"
    before = own.read_text()
    own.write_text("fsync = off\nwork_mem = 77MB\n")

    with start(home) as server:
        assert ask(server.url, "show fsync") == "on"
        assert ask(server.url, "show work_mem") == "77MB"
    await_stop(home)
    own.write_text(before)


def test_a_home_stays_durable_for_life(home: Path) -> None:
    with pytest.raises(EmbeddedFailed, match="created with durability; it cannot start without"):
        start(home, durable=False)


def test_a_home_for_tests_stays_one_for_life(area: Path) -> None:
    with start(area / "home", durable=False) as server:
        assert [ask(server.url, f"show {name}") for name in DURABILITY] == ["off"] * 3
    await_stop(area / "home")

    with pytest.raises(EmbeddedFailed, match="created without durability; it cannot start with"):
        start(area / "home")


def test_a_running_server_refuses_a_share_of_the_other_kind(home: Path) -> None:
    with start(home), pytest.raises(EmbeddedFailed, match="was created with durability"):
        start(home, durable=False)


def test_the_socket_and_the_port_lead_to_the_same_server(home: Path) -> None:
    question = "select pg_postmaster_start_time()"

    with start(home) as server:
        assert ask(server.url, question) == ask(server.tcp_url, question)


def test_only_the_password_opens_the_door(home: Path) -> None:
    with start(home) as server:
        for url in (server.url, server.tcp_url):
            secret = (home / "password").read_text()
            with pytest.raises(Exception, match="password authentication failed"):
                ask(url.replace(secret, "guess"), "select 1")


def test_secrets_and_logs_are_the_owners_alone(home: Path) -> None:
    with start(home):
        modes = {
            path.name: stat.S_IMODE(path.stat().st_mode)
            for path in (home / "password", home / "server.log", home / "endpoint.json")
        }

    assert set(modes.values()) == {0o600}, modes


def test_a_second_share_is_in_the_same_server(home: Path) -> None:
    with start(home) as one, start(home) as other:
        assert one.url == other.url


def test_asyncio_starts_a_server_through_a_thread(home: Path) -> None:
    async def starting() -> str:
        server = await asyncio.to_thread(start, home)
        with server:
            return server.url

    assert asyncio.run(starting()).startswith("postgresql://")


def test_starting_again_while_the_server_stops_waits_for_a_new_one(home: Path) -> None:
    start(home).close()

    with start(home) as server:
        assert ask(server.url, "select 1") == 1


def test_the_address_stays_the_same_from_start_to_start(home: Path) -> None:
    with start(home) as server:
        url = server.url
    await_stop(home)

    with start(home) as again:
        assert again.url == url


def test_wishes_for_settings_are_granted(home: Path) -> None:
    wishes = {"work_mem": "5MB", "search_path": '"it\'s", public'}

    with start(home, options=EmbeddedOptions(settings=wishes)) as server:
        assert ask(server.url, "show work_mem") == "5MB"
        assert ask(server.url, "show search_path") == '"it\'s", public'


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fsync", "off"),
        ("FULL_PAGE_WRITES", "off"),
        ("port", "1"),
        ("data_directory", "elsewhere"),
        ("work_mem", "1MB'\nfsync = 'off"),
        ("work_mem = '1MB'\nfsync", "off"),
    ],
)
def test_a_wish_for_what_must_not_change_is_refused(home: Path, name: str, value: str) -> None:
    with pytest.raises(InvalidSetting) as refusal:
        start(home, options=EmbeddedOptions(settings={name: value}))

    assert refusal.value.field == f"embedded.settings.{name}"


def test_what_a_crash_left_of_a_first_start_is_swept_away(home: Path) -> None:
    (home / "init-left" / "base").mkdir(parents=True)

    start(home).close()

    assert not (home / "init-left").exists()


def test_a_first_start_that_crashed_half_way_is_made_anew(area: Path) -> None:
    home = area / "home"
    (home / "init-left" / "base").mkdir(parents=True)
    (home / "password").write_text("of the cluster that never was")

    with start(home, durable=False) as server:
        assert ask(server.url, "select 1") == 1


def test_a_lost_password_is_set_anew(home: Path) -> None:
    lost = (home / "password").read_text()
    (home / "password").unlink()

    with start(home) as server:
        assert ask(server.url, "select 1") == 1
    assert (home / "password").read_text() != lost


def test_the_settings_come_with_their_reasons(home: Path) -> None:
    with start(home):
        text = (home / "data" / "postgresql.conf").read_text()

    assert "jit = 'off'  # " in text


def test_the_keeper_is_light_to_import() -> None:
    """It is on the way of every first start, and stays in memory for as long as the server runs."""
    program = "import sys, rota.store.embedded.monitor_process; print(*sys.modules)"

    loaded = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout.split()

    assert not {"asyncio", "asyncpg", "msgspec", "ssl", "logging"} & set(loaded)
