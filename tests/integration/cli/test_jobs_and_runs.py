"""`rota jobs`, `rota runs`, `rota dead`: each command once, on a real installation (I4)."""

import json
from pathlib import Path
from uuid import uuid4

import pytest
from tests.support.installation import Installation, until


@pytest.fixture
def name() -> str:
    return f"job {uuid4().hex[:8]}"


@pytest.fixture
def job(installation: Installation, name: str) -> str:
    """A job that runs once a year, or when somebody runs it."""
    made = installation.rota(
        *("jobs", "create", name, "--kind", "kit.greet", "--cron", "0 0 1 1 *"),
        *("--payload", '{"name": "Ada"}', "--label", "team=billing", "--quiet"),
    )
    assert made.code == 0, made.err
    return made.out.strip()


def dead_run(installation: Installation, name: str) -> str:
    """A dead letter of a job of its own."""
    schedule = ("--kind", "kit.fail", "--cron", "0 0 1 1 *")
    assert installation.rota("jobs", "create", name, *schedule).code == 0
    run_id = str(installation.rota("jobs", "run", name, "--json").json["run_id"])
    assert installation.ended(run_id).status == "dead"
    return run_id


def test_running_and_pausing_a_job_leave_its_version_and_an_edit_is_in_its_history(
    installation: Installation, name: str, job: str
) -> None:
    rota = installation.rota
    for command in (("run",), ("pause",), ("resume",), ("run", "--watch")):
        done = rota("jobs", command[0], name, *command[1:])
        assert done.code == 0, done.err

    edited = rota("jobs", "edit", name, "--label", "team=ops", "--if-version", "1")
    told = rota("jobs", "history", name)
    plain = rota("jobs", "history", job, "--json").json

    assert "to version 2" in edited.out, edited.err
    assert told.lines[0].split() == ["AT", "VERSION", "AUTHOR", "ORIGIN", "ACTION", "CHANGES"]
    assert 'labels.team: "billing" -> "ops"' in told.lines[1]
    assert [(each["action"], each["version"], each["origin"]) for each in plain] == [
        ("job.update", 2, "cli"),
        ("job.resume", None, "cli"),
        ("job.pause", None, "cli"),
        ("job.create", 1, "cli"),
    ]


def test_a_one_time_submission_is_found_changed_run_and_cancelled(
    installation: Installation, name: str
) -> None:
    rota = installation.rota
    made = rota("jobs", "create", name, "--kind", "kit.greet", "--after", "1h", "--json").json
    id_ = made["job_id"]

    definitions = rota("jobs", "list", name, "--quiet")
    once = rota("jobs", "list", name, "--type", "one_time", "--quiet")
    shown = rota("jobs", "show", name, "--json").json
    why = rota("why", id_)
    edit = ("jobs", "edit", id_, "--payload", '{"name": "Ada"}', "--after", "2h")
    edited = rota(*edit, "--json").json
    paused = rota("jobs", "pause", id_)
    ran = rota("jobs", "run", id_, "--watch")
    late = rota("jobs", "edit", id_, "--priority", "high")
    other = rota("jobs", "create", name, "--kind", "kit.greet", "--after", "1h", "--quiet")
    both = rota("jobs", "show", name)
    cancelled = rota("jobs", "delete", other.out.strip(), "--yes")
    runs = rota("jobs", "runs", other.out.strip(), "--json").json

    assert (definitions.out, once.out) == ("", f"{id_}\n")
    assert (shown["job_id"], shown["schedule_type"]) == (id_, "FUTURE")
    assert "The run is due at" in why.out
    assert (edited["job_id"], edited["payload"]) == (id_, {"name": "Ada"})
    assert "runs once" in paused.err
    assert (ran.code, late.code) == (0, 1)
    assert "it has started" in late.err
    assert "several one-time submissions" in both.err
    assert (cancelled.code, [run["status"] for run in runs]) == (0, ["cancelled"])


def test_a_job_is_made_found_changed_and_deleted(installation: Installation, name: str) -> None:
    rota = installation.rota
    made = rota("jobs", "create", name, "--cron", "30 2 * * *", "--tz", "Europe/Berlin")
    shown = rota("jobs", "show", name, "--json").json
    edited = rota("jobs", "edit", name, "--cron", "0 3 * * *", "--if-version", "1")
    kept_zone = rota("jobs", "show", name, "--json").json["timezone"]
    late = rota("jobs", "edit", name, "--retries", "6", "--if-version", "1")
    changed = rota("jobs", "edit", name, "--tz", "UTC", "--timeout", "none", "--json").json
    again = changed["schedule"]
    listed = rota("jobs", "list", name)
    deleted = rota("jobs", "delete", name, "--yes")
    gone = rota("jobs", "show", name)

    assert made.out.startswith(f"Created job {name} ({shown['job_id']}); next run in ")
    assert (shown["cron_expression"], shown["version"]) == ("30 2 * * *", 1)
    assert "to version 2" in edited.out
    assert kept_zone == "Europe/Berlin"
    assert (again["cron"], again["timezone"]) == ("0 3 * * *", "UTC")
    assert (shown["timeout"], changed["timeout"]) == ("PT15M", None)
    assert (late.code, late.out) == (1, "")
    assert "at version 2, not 1" in late.err
    assert listed.lines[0].split()[:4] == ["NAME", "KIND", "STATUS", "SCHEDULE"]
    assert "0 3 * * *" in listed.lines[1]
    assert (deleted.code, deleted.out) == (0, f"Deleted job {name}\n")
    assert (gone.code, gone.err) == (66, f"rota: job '{name}' not found\n")


@pytest.mark.parametrize(
    ("option", "status"), [((), "cancelled"), (("--keep-running",), "succeeded")]
)
def test_a_deleted_job_stops_what_runs_unless_it_is_kept(
    installation: Installation, name: str, tmp_path: Path, option: tuple[str, ...], status: str
) -> None:
    gate = tmp_path / "gate"
    made = installation.rota(
        *("jobs", "create", name, "--kind", "kit.steps", "--json"),
        *("--payload", json.dumps({"gate": str(gate)})),
    )
    run_id = str(made.json["run_id"])
    until(lambda: installation.client.get_run(run_id).status == "running", "it runs")

    both = installation.rota("jobs", "delete", name, "--keep-running", "--cancel-running", "--yes")
    deleted = installation.rota("jobs", "delete", name, *option, "--yes")
    if option:
        gate.touch()

    assert (both.code, deleted.code) == (64, 0)
    assert installation.ended(run_id).status == status


def test_a_name_that_is_nearly_right_is_told(
    installation: Installation, name: str, job: str
) -> None:
    said = installation.rota("jobs", "show", name[:-2])

    assert said.code == 66
    assert said.err.endswith(f"did you mean '{name}'?\n")


def test_lists_are_tables_arrays_or_ids(installation: Installation, name: str, job: str) -> None:
    filters = ("--label", "team=billing", "--kind", "kit.greet", "--status", "active")
    table = installation.rota("jobs", "list", name, *filters)
    array = installation.rota("jobs", "list", name, *filters, "--json")
    ids = installation.rota("jobs", "list", name, *filters, "--quiet")
    nothing = installation.rota("jobs", "list", name, "--kind", "other", "--json")

    assert job in table.out
    assert [each["job_id"] for each in array.json] == [job]
    assert ids.out == f"{job}\n"
    assert nothing.json == []


def test_lists_go_over_pages(installation: Installation, name: str, tmp_path: Path) -> None:
    drafts = [{"name": f"{name} {n}", "schedule": {"on_demand": True}} for n in range(3)]
    file = tmp_path / "jobs.json"
    file.write_text(json.dumps(drafts))
    made = installation.rota("jobs", "create", "--file", str(file), "--quiet")

    two = installation.rota("jobs", "list", name, "--limit", "2", "--quiet")
    every = installation.rota("jobs", "list", name, "--all", "--quiet")

    assert len(made.lines) == 3
    assert every.lines[:2] == two.lines
    assert sorted(every.lines) == sorted(made.lines)


def test_several_jobs_are_made_all_or_none(
    installation: Installation, name: str, tmp_path: Path
) -> None:
    file = tmp_path / "jobs.yaml"
    file.write_text(f"- name: {name} a\n  schedule: {{on_demand: true}}\n- cron: wrong\n")

    said = installation.rota("jobs", "create", "--file", str(file))

    assert said.code == 64
    assert "cron" in said.err
    assert installation.rota("jobs", "list", name, "--quiet").out == ""


def test_replace_makes_a_job_and_then_changes_it(installation: Installation, name: str) -> None:
    first = installation.rota("jobs", "create", name, "--replace", "--on-demand", "--json").json
    again = installation.rota("jobs", "create", name, "--replace", "--queue", "mail", "--json").json

    assert first["job_id"] == again["job_id"]
    assert (again["queue"], again["version"]) == ("mail", 2)


def test_a_job_is_paused_and_resumed_with_its_reason(
    installation: Installation, name: str, job: str
) -> None:
    paused = installation.rota("jobs", "pause", name, "--reason", "the printer burns")
    shown = installation.rota("jobs", "show", name)
    resumed = installation.rota("jobs", "resume", name, "--missed", "skip", "--json")

    assert paused.out == f"Paused {name}\n"
    assert "the printer burns" in shown.out
    assert resumed.json["status"] == "active"


def test_a_job_runs_now_and_is_watched_to_its_end(
    installation: Installation, name: str, job: str
) -> None:
    said = installation.rota("jobs", "run", name, "--payload", '{"name": "Grace"}', "--watch")
    (newest,) = installation.rota("jobs", "runs", name, "--quiet").lines
    logs = installation.rota("runs", "logs", newest)
    pieces = installation.rota("runs", "logs", newest, "--json")
    shown = installation.rota("runs", "show", newest, "--json").json
    status = installation.rota("jobs", "status", name)

    assert said.code == 0
    assert said.lines[-1].split()[-1] == "succeeded"
    assert logs.out == "hello Grace\n"
    assert [json.loads(line)["text"] for line in pieces.lines] == ["hello Grace\n"]
    assert shown["result"] == {"greeted": "Grace"}
    assert newest in status.out


def test_a_run_that_fails_is_explained_watched_with_1_and_goes_again(
    installation: Installation, name: str
) -> None:
    run_id = dead_run(installation, name)

    watched = installation.rota("runs", "watch", run_id)
    why = installation.rota("why", run_id)
    also = installation.rota("runs", "why", run_id, "--json").json
    attempts = installation.rota("runs", "attempts", run_id, "--json").json
    retried = installation.rota("runs", "retry", run_id)
    installation.ended(run_id)
    replayed = installation.rota("runs", "replay", run_id, "--quiet")

    assert watched.code == 1
    assert "dead" in watched.out
    assert "customer 4711 does not exist" in why.out
    assert (also["run_id"], also["status"]) == (run_id, "dead")
    assert [each["outcome"] for each in attempts] == ["failed"]
    assert (retried.code, retried.out) == (0, f"Retrying {run_id} (queued)\n")
    assert replayed.out.startswith("run_")
    assert replayed.out.strip() != run_id


def test_runs_are_listed_by_what_they_are(installation: Installation, name: str) -> None:
    run_id = dead_run(installation, name)
    choice = ("--job", name, "--status", "dead", "--kind", "kit.fail", "--queue", "default")

    listed = installation.rota("runs", "list", *choice, "--since", "1h", "--json").json
    before = installation.rota("runs", "list", *choice, "--until", "1h", "--quiet")

    assert [each["run_id"] for each in listed] == [run_id]
    assert before.out == ""


def test_a_run_is_found_by_the_beginning_of_its_id(installation: Installation, name: str) -> None:
    run_id = dead_run(installation, name)

    found = installation.rota("runs", "show", run_id[:-6], "--quiet")
    short = installation.rota("runs", "show", "run_0")
    # Ids begin with their time: all runs of one day begin alike.
    installation.rota("jobs", "run", name)
    common = installation.rota("runs", "show", run_id[:8])
    none = installation.rota("runs", "show", "run_ffffffff")

    assert found.out == f"{run_id}\n"
    assert (short.code, common.code, none.code) == (64, 64, 66)
    assert "a longer prefix" in common.err


def test_a_running_run_is_followed_and_cancelled(
    installation: Installation, name: str, tmp_path: Path
) -> None:
    payload = json.dumps({"gate": str(tmp_path / "gate")})
    made = installation.rota("jobs", "create", name, "--kind", "kit.steps", "--payload", payload)
    (run_id,) = installation.rota("jobs", "runs", name, "--quiet").lines
    until(lambda: installation.client.get_run(run_id).progress == 0.5, "the first half")

    listed = installation.rota("jobs", "runs", name)
    second = installation.rota("jobs", "run", name)
    cancelled = installation.rota("runs", "cancel", run_id, "--reason", "not today")
    followed = installation.rota("runs", "logs", run_id, "--follow")
    refused = installation.rota("runs", "cancel", run_id)

    assert "queued run run_" in made.out
    assert "50% half of the way" in listed.out
    assert (second.code, "Skipped run_" in second.out) == (1, True)
    assert cancelled.out == f"Cancelling {run_id}\n"
    assert "half of the way\n" in followed.out
    assert installation.ended(run_id).status == "cancelled"
    assert refused.code == 1


def test_many_runs_are_cancelled_after_a_count(installation: Installation, name: str) -> None:
    queue = f"q{uuid4().hex[:8]}"
    for number in range(3):
        installation.rota("jobs", "create", f"{name} {number}", "--queue", queue)

    asked = installation.rota("runs", "cancel", "--queue", queue)
    done = installation.rota("runs", "cancel", "--queue", queue, "--yes")
    again = installation.rota("runs", "cancel", "--queue", queue, "--yes")
    nothing = installation.rota("runs", "cancel", "--yes")

    assert asked.code == 64
    assert "Cancel 3 runs? Standard input is not a terminal: pass --yes to confirm" in asked.err
    assert done.out == "Cancelled 3 runs\n"
    assert again.out == "No matching runs\n"
    assert nothing.code == 64


def test_dead_letters_are_grouped_replayed_and_dropped(
    installation: Installation, name: str
) -> None:
    rota = installation.rota
    runs = [dead_run(installation, f"{name} {letter}") for letter in "ab"]

    listed = rota("dead", "list", "--job", f"{name} a", "--quiet")
    groups = rota("dead", "groups", "--since", "1h", "--kind", "kit.fail", "--json").json
    fingerprint = groups[0]["fingerprint"]
    shown = rota("dead", "show", "kit.fail", fingerprint)
    of_group = ("--kind", "kit.fail", "--fingerprint", fingerprint)
    in_group = rota("dead", "list", *of_group, "--quiet")
    replayed = rota("dead", "requeue", "--job", f"{name} a", "--yes", "--json").json
    installation.ended(runs[0])
    one = rota("dead", "replay", runs[1], "--quiet")
    installation.ended(runs[1])
    dropped = rota("dead", "drop", runs[1], "--yes")
    rest = rota("dead", "drop", "--job", f"{name} a", "--yes")
    left = rota("dead", "list", "--kind", "kit.fail", "--quiet")

    assert listed.out == f"{runs[0]}\n"
    assert set(runs) <= set(in_group.lines)
    assert "kit.fail" in shown.out
    assert fingerprint in shown.out
    assert (replayed["matched"], replayed["done"]) == (1, 1)
    assert one.out == f"{runs[1]}\n"
    assert dropped.out == f"Dropped {runs[1]}\n"
    assert rest.out == "Dropped 1 run\n"
    assert not set(runs) & set(left.lines)


def test_dead_letters_are_requeued_with_a_changed_payload(
    installation: Installation, name: str
) -> None:
    rota = installation.rota
    run_id = dead_run(installation, name)

    wrong = rota("dead", "edit", "[]", "--job", name, "--yes")
    asked = rota("dead", "edit", '{"late": true}', "--job", name)
    done = rota("dead", "edit", '{"late": true}', "--job", name, "--yes", "--json").json
    dead = rota("runs", "show", run_id, "--json").json
    made = rota("runs", "list", "--job", name, "--json").json

    assert wrong.code == 64
    assert "Edit and requeue 1 run? Standard input is not a terminal" in asked.err
    assert (done["matched"], done["done"]) == (1, 1)
    new = next(each["run_id"] for each in made if each["run_id"] != run_id)
    payload = rota("runs", "show", new, "--json").json["payload"]
    assert payload == {**(dead["payload"] or {}), "late": True}


def test_the_next_times_of_a_job(installation: Installation, name: str) -> None:
    rota = installation.rota
    start = rota("next", "* * * * *", "--json").json["upcoming"][0]["at"]
    rota("jobs", "create", name, "--kind", "kit.greet", "--cron", "* * * * *")

    preview = rota("jobs", "preview", name, "-n", "2", "--viewer", "Asia/Tokyo")
    words = rota("jobs", "preview", name, "--json").json["sentence"]

    assert start.endswith("Z")
    assert "ASIA/TOKYO" in preview.out
    assert words.startswith("Every minute")
