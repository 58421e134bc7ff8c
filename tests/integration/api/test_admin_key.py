"""The bootstrap admin key is in a file and nowhere else, ends, and can be renewed or replaced."""

import os
import re
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
from tests.support.serving import Served
from tests.support.standing import Standing
from tests.support.world import World

from rota.cli.commands.api import announce
from rota.cli.doctor.service import check_expiry
from rota.core import api_keys
from rota.processes.admin_keys import AdminKeyWatch
from rota.processes.api import OpenApi
from rota.runtime.events import AdminKeyExpires
from rota.store import keys

ROTA = Path(sys.executable).parent / "rota"


def run(api: Served, folder: Path, *arguments: str) -> str:
    """`rota` on the machine of the server, with its database and without a key."""
    environment = {
        "PATH": os.environ["PATH"],
        "ROTA_DATABASE__URL": api.access.url,
        "ROTA_DATABASE__DATA": str(folder),
    }
    done = subprocess.run(
        [ROTA, *arguments], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_printed_at_the_start_has_the_path_and_not_the_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "admin.key"
    file.write_text("rota_the_key\n")

    announce(OpenApi([], "http://127.0.0.1:7070", file))

    printed = "".join(capsys.readouterr())
    assert str(file) in printed
    assert "rota_the_key" not in printed


async def test_the_bootstrap_key_ends_after_90_days_and_a_start_makes_another(
    world: World,
) -> None:
    first = await keys.ensure_admin_key(world.conn, key_id=world.new_id(), bits=bytes(32))
    await world.advance(days=89)
    during = await keys.ensure_admin_key(world.conn, key_id=world.new_id(), bits=bytes([1] * 32))
    await world.advance(days=2)
    after = await keys.ensure_admin_key(world.conn, key_id=world.new_id(), bits=bytes([2] * 32))

    assert first is not None
    assert during is None
    assert after is not None
    assert await keys.find_principal(world.conn, digest=api_keys.parse_key(first).digest) is None


async def test_the_log_tells_14_days_before_the_end(world: World) -> None:
    class Recorder:
        def __init__(self) -> None:
            self.events: list[object] = []

        def emit(self, event: object) -> None:
            self.events.append(event)

    ground = Recorder()
    watch = AdminKeyWatch(Standing(world.conn), ground)  # type: ignore[arg-type]
    await keys.ensure_admin_key(world.conn, key_id=world.new_id(), bits=bytes(32))

    await world.advance(days=75)
    await watch.tick()
    assert ground.events == []
    await world.advance(days=2)
    assert await watch.tick() == timedelta(days=1).total_seconds()
    assert [type(event) for event in ground.events] == [AdminKeyExpires]


async def test_whoami_and_the_doctor_warn_before_the_end(api: Served) -> None:
    fresh = (await api.platform.get("/v1/whoami")).json
    soon = await api.caller("viewer", lifetime=timedelta(days=13))
    told = (await soon.get("/v1/whoami")).json

    assert fresh["warning"] is None
    assert fresh["expires_at"] is not None
    assert "expires in" in told["warning"]
    assert "rota keys" in told["warning"]

    class Who:
        name = "old key"
        expires_at = None

    assert ["never expires" in finding.detail for finding in check_expiry(Who())] == [True]


async def test_renewing_writes_another_key_and_revokes_the_one_before(
    api: Served, tmp_path: Path
) -> None:
    before = (tmp_path / "admin.key").read_text()
    printed = run(api, tmp_path, "keys", "renew-admin")
    after = (tmp_path / "admin.key").read_text()

    assert str(tmp_path / "admin.key") in printed
    assert after.strip() not in printed
    assert stat.S_IMODE((tmp_path / "admin.key").stat().st_mode) == 0o600
    assert before != after
    assert (await api.stranger(after.strip()).get("/v1/whoami")).json["role"] == "platform"
    found = await keys.find_principal(api.conn, digest=api_keys.parse_key(before.strip()).digest)
    assert found is None


async def test_a_setup_link_logs_in_once_and_can_make_a_key_with_a_name(
    api: Served, tmp_path: Path
) -> None:
    printed = run(api, tmp_path, "setup-link", "--url", api.url)
    link = re.search(rf"{re.escape(api.url)}/login#ticket=(\S+)", printed)
    assert link is not None
    headers = {"Origin": api.url}
    ticket = {"ticket": link[1]}
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser:
        first = await browser.post(f"{api.url}/ui/session", json=ticket, headers=headers)
        session = (await first.json())["session"]
        made = await browser.post(
            f"{api.url}/ui/v1/tenants/1/keys",
            json={"name": "ana", "role": "platform"},
            headers=headers | {"X-CSRF-Token": session["csrf_token"]},
        )
        named = (await made.json())["key"]
    async with aiohttp.ClientSession() as another:
        second = await another.post(f"{api.url}/ui/session", json=ticket, headers=headers)

    assert (first.status, made.status, second.status) == (200, 201, 401)
    assert session["role"] == "platform"
    assert (await api.stranger(named).get("/v1/whoami")).json["name"] == "ana"


async def test_a_setup_link_ends_after_15_minutes(api: Served, tmp_path: Path) -> None:
    printed = run(api, tmp_path, "setup-link", "--url", api.url)
    ticket = printed.partition("#ticket=")[2].split()[0]
    lifetime = await api.conn.fetchval("select expires_at - created_at from rota.logins")

    assert lifetime == timedelta(minutes=15)
    assert ticket not in str(await api.conn.fetch("select * from rota.logins"))
