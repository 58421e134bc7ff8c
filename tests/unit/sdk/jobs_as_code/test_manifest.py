"""Reading rota.yaml: what is meant, and what is refused with its line and column (I6)."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.api.schemas.manifests import DeclaredJob
from rota.contract.documents import fields_by_name
from rota.core.errors import InvalidInput
from rota.sdk.jobs_as_code import field_check, manifest, yaml_reader
from rota.sdk.jobs_as_code.manifest import ManifestFile
from rota.sdk.jobs_as_code.manifest_writer import ManifestJobText, render_manifest
from rota.sdk.jobs_as_code.problems import InvalidFile

HEAD = "version: 1\nproject: p\n"


def loaded(text: str) -> ManifestFile:
    return manifest.combine_documents(yaml_reader.read_documents(text, "f"), "f")


def body(text: str) -> Any:
    (job,) = loaded(HEAD + text).jobs
    return job.body


def refused(text: str) -> list[str]:
    with pytest.raises(InvalidFile) as caught:
        loaded(text)
    return [str(each) for each in caught.value.problems]


def test_a_file_may_say_what_the_api_takes() -> None:
    assert {*field_check.MANIFEST_JOB_FIELDS, "name"} == set(fields_by_name(DeclaredJob))


def test_words_are_words_and_not_what_an_older_yaml_makes_of_them() -> None:
    payload = body(
        "jobs:\n  a:\n    payload:\n      [on, no, yes, off, 010, 1:30, 2026-01-01, 0x1f, =, y,"
        " true, False, ~, 12, -3, 1.5, 1e3, '5', !!str 7]\n"
    )["payload"]

    assert payload == [
        *("on", "no", "yes", "off", "010", "1:30", "2026-01-01", "0x1f", "=", "y"),
        *(True, False, None, 12, -3, 1.5, 1000.0, "5", "7"),
    ]


def test_defaults_are_for_all_jobs_and_a_jobs_own_word_wins() -> None:
    text = (
        "defaults: {queue: q, retries: 5, timezone: Europe/Berlin, labels: {a: x, b: x}}\n"
        "jobs:\n  j: {kind: k, max_retries: 1, labels: {b: y}, schedule: '0 1 * * *'}\n"
    )

    assert body(text) == {
        "kind": "k",
        "queue": "q",
        "max_retries": 1,
        "labels": {"a": "x", "b": "y"},
        "schedule": {"cron": "0 1 * * *", "timezone": "Europe/Berlin"},
    }


@pytest.mark.parametrize(
    ("job", "schedule"),
    [
        ("schedule: {every: 15m}", {"every": "15m"}),
        ("schedule: {cron: 'CRON_TZ=UTC 0 1 * * *'}", {"cron": "CRON_TZ=UTC 0 1 * * *"}),
        (
            "schedule: {cron: '@daily', timezone: UTC}",
            {"cron": "@daily", "timezone": "UTC"},
        ),
        ("kind: k", None),
    ],
)
def test_the_zone_of_the_defaults_is_for_schedules_that_follow_a_clock_and_have_none(
    job: str, schedule: Any
) -> None:
    found = body(f"defaults: {{timezone: Asia/Tokyo}}\njobs:\n  j:\n    {job}\n")

    assert found.get("schedule") == schedule
    assert "timezone" not in found


def test_anchors_and_merges_are_understood() -> None:
    text = "jobs:\n  a: &a {kind: k, queue: q}\n  b:\n    <<: *a\n    queue: r\n"

    first, second = loaded(HEAD + text).jobs
    assert (first.body, second.body) == ({"kind": "k", "queue": "q"}, {"kind": "k", "queue": "r"})


def test_a_bomb_of_aliases_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    (wrong,) = refused("\n".join(lines))

    assert "more than 100,000 values" in wrong


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "f:1:1: the file is empty; version, project and jobs are required"),
        ("- a\n", "f:1:1: expected an object with version, project and jobs"),
        ("project: p\n", "f:1:1: version is missing; add `version: 1`"),
        ("version: 2\nproject: p\n", "f:1:1: unknown version 2; supported: 1"),
        ("version: 1\n", "f:1:1: project is missing; add the name of the project that owns"),
        ("version: 1\nproject: 7\n", "f:2:1: project must be a string of 1 to 64 characters"),
        (HEAD + "job: {}\n", "f:3:1: unknown field 'job'; did you mean jobs?"),
        (
            HEAD + "jobs: [a]\n",
            "f:3:1: jobs must be an object that maps the name of each job to its fields",
        ),
        (HEAD + "jobs:\n  a: 5\n", "f:4:3: a must be an object with fields such as kind"),
        (
            HEAD + "jobs:\n  a:\n    shedule: '@daily'\n",
            "f:5:5: unknown job field 'shedule'; did you mean schedule?",
        ),
        (
            HEAD + "jobs:\n  a:\n    limits:\n      - {key: k, rate: {cuont: 1}}\n",
            "f:6:25: unknown rate field 'cuont'; did you mean count?",
        ),
        (
            HEAD + "defaults:\n  schedule: '@daily'\n",
            "f:4:3: unknown job field 'schedule'; known: ",
        ),
        (
            HEAD + "calendars: {c: {daets: []}}\n",
            "f:3:17: unknown calendar field 'daets'; did you mean dates?",
        ),
        (HEAD + "calendars: {c: 5}\n", "f:3:13: c must be an object with fields such as dates"),
        (HEAD + "calendars: [c]\n", "f:3:1: calendars must be an object that maps"),
        (HEAD + "jobs:\n  a: {}\n  a: {}\n", "f:5:3: duplicate key 'a'; first in line 4"),
        (
            HEAD + "jobs: {a: !!python/object/apply:os.system [x]}\n",
            "f:3:11: unknown tag 'tag:yaml",
        ),
        (HEAD + "jobs:\n\ta: {}\n", "f:4:1: invalid YAML: "),
        (
            HEAD + "jobs: {a: {kind: &x [*x]}}\n",
            "f:3:18: nested too deeply; the limit is 40 levels",
        ),
        (HEAD + "jobs: {? [a] : {}}\n", "f:3:10: a key must be a string"),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_column(text: str, wrong: str) -> None:
    (said,) = refused(text)

    assert said.startswith(wrong)


def test_everything_that_is_wrong_is_told_at_once() -> None:
    assert len(refused(HEAD + "jobs:\n  a: {knd: k}\n  b: {retries: {mx: 1}, qeue: q}\n")) == 3


def test_what_the_server_points_at_has_a_line() -> None:
    found = loaded(HEAD + "jobs:\n  a: {kind: k}\n  b:\n    schedule:\n      cron: x\n")

    assert str(found.locate("/jobs/1/schedule/cron")) == "f:7:7"
    assert str(found.locate("/jobs/1/schedule/window/start")) == "f:6:5"
    assert str(found.locate("/jobs/0/name")) == "f:4:3"
    assert found.locate("/jobs/9/name") is None
    assert found.locate("/project") is None
    dates = loaded(HEAD + "calendars:\n  c:\n    dates: [x]\n")
    assert str(dates.locate("/calendars/0/calendar/dates")) == "f:5:5"


def test_a_folder_of_files_is_one_project(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(HEAD + "jobs: {a: {kind: k}}\n")
    (tmp_path / "b.yml").write_text("version: 1\njobs: {b: {kind: k}}\n")
    (tmp_path / "notes.txt").write_text("nothing")

    assert [job.name for job in manifest.load_manifest(tmp_path).jobs] == ["a", "b"]

    (tmp_path / "c.yaml").write_text("version: 1\nproject: q\njobs: {a: {kind: k}}\n")
    with pytest.raises(InvalidFile) as caught:
        manifest.load_manifest(tmp_path)
    said = [each.message for each in caught.value.problems]
    assert said[0] == "project is 'q' here and 'p' before; a folder has one project"
    assert said[1].startswith("job 'a' is declared twice; first at ")


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(HEAD + "---\n" + HEAD)
    (tmp_path / "odd.yaml").write_bytes(b"\xff\xfe\x00")
    for name in ("none.yaml", "odd.yaml", "two.yaml"):
        with pytest.raises(InvalidInput):
            manifest.load_manifest(tmp_path / name)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InvalidInput):
        manifest.load_manifest(empty)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(PLAIN.filter(lambda value: "\\ud" not in ascii(value)))
def test_whatever_is_written_reads_back_as_the_same(payload: Any) -> None:
    text = render_manifest(
        "p", [ManifestJobText("n", {"payload": payload}), ManifestJobText("m", {})]
    )

    (found,) = yaml_reader.read_documents(text, "f")

    assert found.value["jobs"] == {"n": {"payload": payload}, "m": {}}
