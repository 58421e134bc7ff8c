"""`rota doctor`: what is wrong, and what to do (O1, I4)."""

from pathlib import Path
from uuid import uuid4

from tests.support.installation import Installation, Said, ran, until

from rota.store.embedded import Embedded


def levels(said: Said) -> dict[str, str]:
    """The worst of each check."""
    order = ("ok", "warning", "bad")
    found: dict[str, str] = {}
    for each in said.json:
        worst = max(order.index(each["level"]), order.index(found.get(each["check"], "ok")))
        found[each["check"]] = order[worst]
    return found


def test_a_well_installation_is_told_so(installation: Installation) -> None:
    # What other tests have left behind in queues that nobody serves.
    installation.rota("runs", "cancel", "--since", "1d", "--yes")
    said = until(
        lambda: _if_well(installation.rota("doctor", "--json")),
        "an installation with its shards leased",
    )
    lines = installation.rota("doctor")

    for check in ("settings", "keys", "disk", "database", "schema", "clock", "connections"):
        assert levels(said)[check] == "ok", said.out
    for check in ("schedulers", "workers", "ticks", "api"):
        assert levels(said)[check] == "ok", said.out
    assert lines.lines[0] == "ok       settings: valid"


def _if_well(said: Said) -> Said | None:
    return said if said.code == 0 else None


def _if_queues_are_bad(said: Said) -> Said | None:
    return said if levels(said).get("queues") == "bad" else None


def test_what_is_amiss_comes_with_a_remedy(installation: Installation) -> None:
    word = f"w{uuid4().hex[:8]}"
    installation.rota("jobs", "create", f"{word} a", "--kind", "kit.greet", "--queue", word)
    installation.rota("jobs", "create", f"{word} b", "--kind", word, "--every", "1h")
    dead = installation.rota("jobs", "create", f"{word} c", "--kind", "kit.fail", "--json").json
    installation.ended(dead["run_id"])
    key = installation.folder / ".rota" / "admin.key"
    key.chmod(0o644)

    # A queue without a worker is a problem once its runs have waited for a moment.
    said = until(
        lambda: _if_queues_are_bad(installation.rota("doctor", "--json")), "a queue without worker"
    )
    quiet = installation.rota("doctor", "--quiet")

    key.chmod(0o600)
    installation.rota("jobs", "delete", f"{word} a", f"{word} b", f"{word} c", "--yes")
    found = levels(said)
    assert said.code == 1
    assert (found["keys"], found["queues"]) == ("bad", "bad")
    assert (found["kinds"], found["dead letters"]) == ("warning", "warning")
    assert all(each["remedy"] for each in said.json if each["level"] != "ok")
    assert f"→ Start a worker with `rota worker --queue {word}`." in quiet.out
    assert "\nok" not in quiet.out


def test_nothing_at_all_is_told_and_nothing_is_made(tmp_path: Path, unused_tcp_port: int) -> None:
    said = ran("doctor", "--url", f"http://127.0.0.1:{unused_tcp_port}", folder=tmp_path)

    assert (said.code, said.err) == (1, "")
    assert "warning  database: no database in .rota" in said.out
    assert "create one with `rota up`" in said.out
    assert f"bad      api: cannot reach http://127.0.0.1:{unused_tcp_port}" in said.out
    assert list(tmp_path.iterdir()) == []


def test_settings_and_databases_that_cannot_be_used_are_told(
    installation: Installation, server: Embedded, schema: str, unused_tcp_port: int
) -> None:
    away = f"postgresql://rota:geheim@127.0.0.1:{unused_tcp_port}/rota"
    wrong = installation.rota("doctor", "--json", ROTA_WORKER__SLOTS="many")
    lossy = installation.rota("doctor", "--json", ROTA_DATABASE_URL=schema)
    gone = installation.rota("doctor", "--json", ROTA_DATABASE_URL=away)

    assert (wrong.code, lossy.code, gone.code) == (1, 1, 1)
    assert levels(wrong)["settings"] == "bad"
    assert levels(wrong)["api"] == "ok"
    assert "fsync is off" in lossy.out
    assert levels(gone)["database"] == "bad"
    assert "geheim" not in gone.out
