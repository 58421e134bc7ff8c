"""Crontabs as they are found on machines become jobs, line by line (I5)."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rota.sdk.importers.crontab import Crontab, create_result, import_crontab
from rota.sdk.importers.import_result import ImportedJobs
from rota.sdk.jobs_as_code import manifest, yaml_reader
from rota.sdk.jobs_as_code.manifest_writer import ManifestJobText, render_manifest

NOW = datetime(2026, 7, 1, tzinfo=UTC)
CRONTABS = Path(__file__).parent / "crontabs"


def imported(text: str, *, system: bool = False, zone: str = "UTC") -> ImportedJobs:
    found = create_result(zone, NOW)
    import_crontab(text, Crontab(file="tab", is_system=system, zone=zone), found)
    return found


def crontab(name: str, *, system: bool = False) -> ImportedJobs:
    return imported((CRONTABS / name).read_text(), system=system, zone="Europe/Berlin")


def only(text: str, **how: Any) -> ManifestJobText:
    found = imported(text, **how)
    assert found.skipped == []
    (job,) = found.jobs
    return job


def said(found: ImportedJobs) -> list[str]:
    return [str(each) for each in found.skipped]


def test_the_crontab_of_a_system_has_users_and_a_legend() -> None:
    found = crontab("etc_crontab", system=True)

    assert [(job.name, job.body["schedule"]) for job in found.jobs] == [
        ("cron.hourly", "17 * * * *"),
        ("cron.daily", "25 6 * * *"),
        ("cron.weekly", "47 6 * * 7"),
        ("cron.monthly", "52 6 1 * *"),
    ]
    assert found.jobs[0].comments == ["as root"]
    assert found.jobs[0].body["payload"] == {
        "argv": ["/bin/sh", "-c", "cd / && run-parts --report /etc/cron.hourly"]
    }
    assert [each.message for each in found.notes] == [
        "jobs of root run as the worker's user, not as root"
    ]
    assert found.skipped == []


def test_a_package_in_cron_d() -> None:
    found = crontab("cron_d_package", system=True)

    assert [(job.name, job.body["schedule"]) for job in found.jobs] == [
        ("sessionclean", "09,39 * * * *"),
        ("debian-sa1", "5-55/10 * * * *"),
        ("certbot renew", "0 */12 * * *"),
    ]
    assert found.jobs[0].comments == [
        "Look for and purge old sessions every 30 minutes",
        "as root",
    ]
    assert found.jobs[1].comments == ["as www-data"]
    assert found.jobs[2].body["payload"]["env"]["PATH"].startswith("/usr/local/sbin:")


def test_a_framework_that_has_a_scheduler_of_its_own() -> None:
    found = crontab("laravel")

    assert [(job.name, list(job.comments)) for job in found.jobs] == [
        ("artisan schedule:run", []),
        ("artisan queue:restart", ["restart workers that leak"]),
    ]
    assert found.notes == []  # an empty MAILTO sends no mail anyway


def test_backups_with_percent_signs_and_what_runs_at_boot() -> None:
    found = crontab("backups")

    dump, mail, clean = found.jobs
    assert dump.body["payload"] == {
        "argv": ["/bin/sh", "-c", "/usr/bin/pg_dump -Fc shop > $BACKUP_DIR/shop-$(date +%F).dump"],
        "env": {"BACKUP_DIR": "/srv/backups"},
    }
    assert mail.body["payload"]["argv"][2] == 'mail -s "backup report" ops@example.org'
    assert mail.body["payload"]["stdin"] == "Hello,\n\nthe backups of last week are there.\n"
    assert clean.body["schedule"] == "@weekly"
    (left,) = said(found)
    assert left.startswith("tab:9: @reboot is not supported")


def test_who_was_mailed_is_alerted_at_every_failure() -> None:
    found = crontab("backups")

    assert [job.body["labels"] for job in found.jobs] == 3 * [{"mailto": "ops@example.org"}]
    assert [job.body["expect"] for job in found.jobs] == 3 * [{"failures": {"streak": 1}}]
    assert [job.body["alert"] for job in found.jobs] == 3 * [{"to": "mail-ops-example-org"}]
    (note,) = [each for each in found.notes if "MAILTO" in each.message]
    assert note.place == "tab:1"
    assert "MAILTO becomes an alert at every failure" in note.message
    section = (
        '[channels.mail-ops-example-org] url = "mailtos://USER:PASSWORD@HOST?to=ops@example.org"'
    )
    assert section in note.message


def test_several_addresses_are_several_labels_and_those_that_do_not_fit_are_told() -> None:
    tab = f"MAILTO=a@example.org, b@example.org,{80 * 'c'}\n0 1 * * * /bin/true\nMAILTO=\n"
    found = imported(f"{tab}0 2 * * * /bin/false\n")

    first, second = found.jobs
    assert first.body["labels"] == {"mailto": "a@example.org", "mailto.2": "b@example.org"}
    assert first.body["alert"] == {"to": "mail-a-example-org-b-example-org"}
    assert not {"labels", "alert", "expect"} & second.body.keys()
    assert any("are kept; not kept: ccc" in each.message for each in found.notes)


def test_zones_hold_for_the_lines_below_and_a_wrong_one_leaves_them_out() -> None:
    found = crontab("zones")

    morning, evening = found.jobs
    assert morning.body["schedule"] == "0 8 * * MON-FRI"
    assert found.defaults["timezone"] == "Europe/Berlin"
    assert evening.body["schedule"] == {
        "cron": "0 17 * * mon-fri",
        "timezone": "America/New_York",
        "jitter": "10m",
    }
    assert [each.place for each in found.skipped] == ["tab:6", "tab:7"]


def test_a_hosted_shop_with_another_shell_and_a_home() -> None:
    found = crontab("hosting")

    assert [job.name for job in found.jobs] == [
        "wget",
        "console app:reindex",
        "curl",
        "rotate-logs",
    ]
    payload = found.jobs[0].body["payload"]
    assert payload["argv"][0] == "/bin/bash"
    assert (payload["cwd"], payload["env"]) == ("/home/shop", {"HOME": "/home/shop"})
    assert [each.place for each in found.notes] == ["tab:1", "tab:3"]
    (left,) = found.skipped
    assert left.place == "tab:10"


def test_a_bad_line_is_told_by_its_number_and_the_others_are_imported() -> None:
    found = crontab("broken")

    assert [job.body["schedule"] for job in found.jobs] == [
        "0 5 * * *",
        "15,45 8-18/2 1-7,15 jan,jul *",
        "H(0-30) 3 * * *",
        "0 4 * * *",
        "0 0 13 * 5",
    ]
    assert [each.place for each in found.skipped] == ["tab:3", "tab:4", "tab:5", "tab:6", "tab:11"]
    assert said(found)[0] == ("tab:3: minute must be 0–59 (got 61) (61 * * * * /bin/minute)")


@pytest.mark.parametrize("name", sorted(each.name for each in CRONTABS.iterdir()))
def test_what_is_written_is_a_manifest_that_reads_back_as_the_same(name: str) -> None:
    found = crontab(name)

    text = render_manifest("p", found.jobs, defaults=found.defaults, comments=["From a crontab."])

    read_back = manifest.combine_documents(yaml_reader.read_documents(text, "f"), "f")
    assert [job.name for job in read_back.jobs] == [job.name for job in found.jobs]
    for job, was in zip(read_back.jobs, found.jobs, strict=True):
        assert job.body["payload"] == was.body["payload"]
        assert (job.body["kind"], job.body["retries"], job.body["timeout"]) == ("shell", 0, "none")
        assert job.body["schedule"]["timezone"]


@pytest.mark.parametrize(
    ("line", "env"),
    [
        ("A=b", {"A": "b"}),
        ('A = "b c"', {"A": "b c"}),
        ("A='b c'  ", {"A": "b c"}),
        ('"A"=b', {"A": "b"}),
        ("A=", {"A": ""}),
        ("A=b#c", {"A": "b#c"}),
    ],
)
def test_environment_lines(line: str, env: dict[str, str]) -> None:
    job = only(f"{line}\n0 1 * * * /bin/x\n")

    assert job.body["payload"]["env"] == env


def test_an_environment_line_is_for_the_lines_below_it() -> None:
    found = imported("0 1 * * * /bin/a\nX=1\n0 1 * * * /bin/b\nX=2\n0 1 * * * /bin/c\n")

    assert [job.body["payload"].get("env") for job in found.jobs] == [None, {"X": "1"}, {"X": "2"}]


@pytest.mark.parametrize(
    ("written", "command", "stdin"),
    [
        ("cat%a%b", "cat", "a\nb\n"),
        ("date +\\%F", "date +%F", None),
        ("cat%", "cat", "\n"),
        ("cat%50\\% off", "cat", "50% off\n"),
    ],
)
def test_percent_signs(written: str, command: str, stdin: str | None) -> None:
    payload = only(f"0 1 * * * {written}\n").body["payload"]

    assert (payload["argv"][2], payload.get("stdin")) == (command, stdin)


def test_equal_commands_get_names_of_their_own() -> None:
    found = imported("0 1 * * * /bin/a\r\n0 2 * * * /bin/a\r\n")

    assert [job.name for job in found.jobs] == ["a", "a 2"]


@pytest.mark.parametrize(
    ("comment", "kept"),
    [
        ("# hourly copy of the shop", ["hourly copy of the shop"]),
        ("#monthly: minutes of the board", ["monthly: minutes of the board"]),
        ("# m h  dom mon dow   command", []),
        ("# | .------ hour (0 - 23)", []),
        ("# ------", []),
        ("#", []),
    ],
)
def test_a_comment_stays_unless_it_explains_the_columns(comment: str, kept: list[str]) -> None:
    assert only(f"{comment}\n0 1 * * * /bin/x\n").comments == kept


def test_a_line_of_the_system_without_a_command_is_left_out() -> None:
    found = imported("0 1 * * * root\n", system=True)

    assert found.jobs == []
    assert "a user and a command" in said(found)[0]


def test_an_empty_file_has_no_jobs_and_nothing_is_wrong_with_it() -> None:
    found = imported("\n# nothing\n")

    assert (found.jobs, found.skipped) == ([], [])
