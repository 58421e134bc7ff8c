"""Queues, processes, keys, tenants, secrets, calendars, figures: each command once (I4)."""

import json
import stat
from pathlib import Path
from uuid import uuid4

import pytest
from tests.support.installation import PATIENCE, Installation, speaks, until

ICS = """\
BEGIN:VCALENDAR
BEGIN:VEVENT
DTSTART;VALUE=DATE:20301225
DTEND;VALUE=DATE:20301227
END:VEVENT
END:VCALENDAR
"""


@pytest.fixture
def word() -> str:
    return f"w{uuid4().hex[:8]}"


def test_a_queue_is_paused_limited_and_resumed(installation: Installation, word: str) -> None:
    rota = installation.rota
    rota("jobs", "create", word, "--queue", word)

    paused = rota("queues", "pause", word)
    limited = rota("queues", "limit", word, "--max", "3", "--rate", "100/1m", "--burst", "5")
    listed = [each for each in rota("queues", "list", "--json").json if each["name"] == word]
    table = rota("queues", "list")
    lifted = rota("queues", "limit", word, "--none", "--quiet")
    resumed = rota("queues", "resume", word, "--json").json
    unknown = rota("queues", "pause", "nowhere")

    assert paused.out == f"Paused queue {word}\n"
    assert limited.out == f"Limited queue {word}\n"
    assert [(each["max"], each["rate"]["count"], each["is_paused"]) for each in listed] == [
        (3, 100, True)
    ]
    assert "100/PT1M, burst 5" in table.out
    assert lifted.out == f"{word}\n"
    assert resumed == {"name": word, "is_paused": False, "is_for_all": True}
    assert unknown.code == 66


def test_limits_that_say_nothing_or_too_much_are_refused(installation: Installation) -> None:
    for arguments in ((), ("--max", "1", "--none"), ("--rate", "many"), ("--burst", "3")):
        said = installation.rota("queues", "limit", "default", *arguments)

        assert (said.code, said.out) == (64, "")


def test_the_processes_are_listed(installation: Installation) -> None:
    (worker,) = installation.rota("workers", "--json").json
    (scheduler,) = installation.rota("schedulers", "--json").json
    shards = until(
        lambda: [
            each
            for each in installation.rota("shards", "--json").json
            if each["scheduler"] == scheduler["name"]
        ],
        "a shard with a scheduler",
    )
    tables = [installation.rota(noun).lines[0] for noun in ("workers", "schedulers", "shards")]

    assert "kit.greet" in worker["kinds"]
    assert worker["name"] == scheduler["name"]
    assert shards
    assert [line.split()[0] for line in tables] == ["WORKER", "SCHEDULER", "SHARD"]
    # Those that have gone are listed too, and other tests had some.
    assert worker["worker_id"] in installation.rota("workers", "--all", "-q").out.splitlines()


def test_a_key_is_made_used_and_revoked(
    installation: Installation, word: str, tmp_path: Path
) -> None:
    file = tmp_path / "key"
    made = installation.rota("keys", "create", word, "--role", "viewer", "--to", str(file))
    again = installation.rota("keys", "create", word, "--role", "viewer", "--to", str(file))
    who = installation.rota("whoami", "--key-file", str(file), "--json").json
    refused = installation.rota("queues", "pause", "default", "--key-file", str(file))
    shown = installation.rota("keys", "create", f"{word} b", "--lifetime", "1d", "--quiet")
    listed = installation.rota("keys", "list", "--all")
    revoked = installation.rota("keys", "revoke", word, "--yes")

    assert made.out == f"Wrote the key to {file}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (again.code, "exists already" in again.err) == (64, True)
    assert (who["name"], who["role"]) == (word, "viewer")
    assert (refused.code, refused.out) == (77, "")
    assert shown.out.startswith("rota_")
    assert word in listed.out
    assert shown.out.strip() not in listed.out
    assert revoked.out == f"Revoked {word}\n"


def test_a_tenant_is_made_changed_paused_given_a_key_and_deleted(
    installation: Installation, word: str
) -> None:
    rota = installation.rota
    made = rota("tenants", "create", word, "--weight", "2", "--max-running", "5", "--json").json
    changed = rota("tenants", "edit", word, "--max-jobs", "7", "--json").json
    lifted = rota("tenants", "edit", word, "--no-quotas", "--weight", "3", "--json").json
    paused = rota("tenants", "pause", word)
    listed = rota("tenants", "list", "--quiet")
    shown = rota("tenants", "show", word)
    resumed = rota("tenants", "resume", str(made["tenant_id"]))
    key = rota("tenants", "key", word, "first", "--role", "viewer", "--quiet")
    who = rota("whoami", "--json", ROTA_API_KEY=key.out.strip()).json
    deleted = rota("tenants", "delete", word, "--yes")
    nothing = rota("tenants", "edit", "default")

    assert (made["weight"], made["quotas"]["max_running"]) == (2, 5)
    assert (changed["quotas"].get("max_jobs"), changed["quotas"].get("max_running")) == (7, None)
    assert not any(lifted["quotas"].values())
    assert paused.out == f"Paused tenant {word}\n"
    assert str(made["tenant_id"]) in listed.lines
    assert "paused since" in shown.out
    assert resumed.out == f"Resumed tenant {word}\n"
    assert (who["tenant"], who["role"]) == (word, "viewer")
    assert deleted.out == f"Deleted tenant {word}\n"
    assert nothing.code == 64


def test_a_secret_comes_from_standard_input_and_is_never_shown(
    installation: Installation, word: str
) -> None:
    rota = installation.rota
    put = rota("secrets", "put", word, stdin="s3cret\n")
    empty = rota("secrets", "put", word, stdin="")
    argued = rota("secrets", "put", word, "s3cret")
    listed = rota("secrets", "list", "--json")
    deleted = rota("secrets", "delete", word, "--yes")

    assert put.out == f"Saved secret {word}, version 1\n"
    assert (empty.code, argued.code) == (64, 64)
    assert word in {each["name"] for each in listed.json}
    assert "s3cret" not in put.out + put.err + empty.err + listed.out
    assert deleted.out == f"Deleted secret {word}\n"


def test_a_calendar_is_written_from_a_file_and_from_ics(
    installation: Installation, word: str, tmp_path: Path
) -> None:
    rota = installation.rota
    (tmp_path / "c.yaml").write_text('dates: ["2030-12-24"]\n')
    (tmp_path / "c.ics").write_text(ICS)
    first = rota("calendars", "put", word, str(tmp_path / "c.yaml"))
    second = rota("calendars", "put", word, str(tmp_path / "c.ics"), "--tz", "Europe/Berlin")
    late = rota("calendars", "put", word, str(tmp_path / "c.yaml"), "--if-version", "1")
    listed = rota("calendars", "list", "--quiet")
    shown = rota("calendars", "show", word)
    whole = rota("calendars", "show", word, "--json").json
    deleted = rota("calendars", "delete", word, "--yes")

    assert first.out == f"Saved calendar {word}, version 1\n"
    assert second.out == f"Saved calendar {word}, version 2\n"
    assert late.code == 1
    assert word in listed.lines
    assert json.loads(shown.out)["timezone"] == "Europe/Berlin"
    assert (whole["name"], whole["version"]) == (word, 2)
    assert deleted.out == f"Deleted calendar {word}\n"


def test_files_that_are_not_there_or_make_no_sense_are_told_in_one_line(
    installation: Installation, word: str, tmp_path: Path
) -> None:
    (tmp_path / "broken.json").write_text('{"dates": [')
    (tmp_path / "list.yaml").write_text("- 1\n")
    (tmp_path / "broken.yaml").write_text("a: [\n")
    for file, reason in (
        ("nowhere.json", "No such file"),
        ("broken.json", "line 1, column 12"),
        ("list.yaml", "which is an object"),
        ("broken.yaml", "expected YAML"),
    ):
        said = installation.rota("calendars", "put", word, str(tmp_path / file))

        assert (said.code, said.err.count("\n")) == (64, 1)
        assert reason in said.err


def test_users_are_listed_and_all_their_keys_revoked(installation: Installation, word: str) -> None:
    rota = installation.rota
    key = rota("keys", "create", word, "--user-id", word, "--json").json["key_id"]

    listed = rota("users", "list", "--all", "--json").json
    shown = rota("users", "show", word, "--json").json
    revoked = rota("users", "revoke-keys", word, "--yes", "--quiet")

    assert word in {each["user_id"] for each in listed}
    assert shown["keys"] == 1
    assert revoked.out == f"{key}\n"


def test_changes_are_in_the_audit_log(installation: Installation, word: str) -> None:
    installation.rota("secrets", "put", word, stdin="s3cret")

    listed = installation.rota("audit", "--thing", "secret", "--since", "1h", "--json").json
    table = installation.rota("audit", "--action", "secret.put", "--thing-id", word)

    assert word in {each["thing_id"] for each in listed}
    assert len(table.lines) == 2


def test_figures_are_told(installation: Installation, word: str) -> None:
    made = installation.rota("jobs", "create", word, "--kind", "kit.fail", "--json").json
    installation.ended(made["run_id"])

    figures = installation.rota("stats", "--since", "1h", "--json").json
    text = installation.rota("stats")
    series = installation.rota("stats", "--series", "hour")
    metrics = installation.rota("metrics")
    cluster = installation.rota("metrics", "--cluster")
    targets = installation.rota("metrics", "targets").json
    demand = installation.rota("queues", "demand", "default", "--json").json
    unknown = installation.rota("queues", "demand", "defualt")

    assert figures["runs"]["dead"] >= 1
    assert "late ticks" in text.out
    assert len(series.lines[-1]) == 60
    assert "rota_build_info" in metrics.out
    assert "rota_queue_demand" in cluster.out
    assert "rota_build_info" not in cluster.out
    assert [group["labels"]["role"] for group in targets] == ["up", "cluster"]
    assert demand[0]["queue"] == "default"
    assert (unknown.code, "did you mean default?" in unknown.err) == (66, True)
    for wrong in (("stats", "--quiet"), ("metrics", "--json")):
        assert installation.rota(*wrong).code == 64


def test_events_are_told_as_they_happen(installation: Installation, word: str) -> None:
    job = installation.rota("jobs", "create", word, "--kind", "kit.fail", "--quiet").out.strip()
    choice = ("--job", word, "--type", "run.ended", "--count", "1")
    with installation.started("feed", *choice, "--json") as following:
        # Nobody can see from outside when it has connected: something happens until it was told.
        while not speaks(following, within=0.5):
            installation.client.run_job_now(job)
        out, _ = following.communicate(timeout=PATIENCE)

    wrong = installation.rota("feed", "--after", "yesterday")

    (event,) = map(json.loads, out.splitlines())
    assert (event["type"], event["job_name"], event["status"]) == ("run.ended", word, "dead")
    assert following.returncode == 0
    assert wrong.code == 64


def test_the_same_screen_is_printed_once_for_programs(
    installation: Installation, word: str
) -> None:
    made = installation.rota("jobs", "create", word, "--kind", "kit.fail", "--json").json
    installation.ended(made["run_id"])

    text = installation.rota("top", "--once")
    frame = installation.rota("top", "--once", "--json").json

    assert text.lines[0].startswith("rota top · ")
    assert "customer 4711 does not exist" in text.out
    assert {each["name"] for each in frame["workers"]}
    assert installation.rota("top").code == 64
