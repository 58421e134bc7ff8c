"""CronJobs of Kubernetes become jobs; what is not carried over is told by its line."""

from datetime import UTC, datetime

from rota.sdk.importers.import_result import ImportedJobs
from rota.sdk.importers.kubernetes import import_cron_jobs

NOW = datetime(2026, 7, 1, tzinfo=UTC)
FULL = """\
apiVersion: batch/v1
kind: CronJob
metadata:
  name: nightly-report
  namespace: billing
spec:
  schedule: "30 2 * * *"
  timeZone: "Europe/Berlin"
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 200
  suspend: true
  successfulJobsHistoryLimit: 3
  jobTemplate:
    spec:
      backoffLimit: 2
      activeDeadlineSeconds: 3600
      template:
        spec:
          serviceAccountName: reporter
          restartPolicy: OnFailure
          containers:
            - name: report
              image: example.org/report:1.4
              command: ["python3", "-m", "report"]
              args: ["--bucket", "$(BUCKET)", "$(WHO)"]
              workingDir: /srv
              env:
                - name: BUCKET
                  value: reports
                - name: PASSWORD
                  valueFrom:
                    secretKeyRef: {name: db, key: password}
              resources:
                limits: {memory: 512Mi}
"""
SMALL = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: small}
spec:
  schedule: SCHEDULE
  jobTemplate:
    spec:
      template:
        spec:
          containers:
            - {name: a, image: a, COMMAND}
"""


def imported(text: str) -> ImportedJobs:
    return import_cron_jobs(text, "jobs.yaml", NOW)


def small(schedule: str = '"@hourly"', command: str = "command: [/bin/true]") -> str:
    return SMALL.replace("SCHEDULE", schedule).replace("COMMAND", command)


def test_a_cron_job_keeps_what_rota_has_a_word_for() -> None:
    (job,) = imported(FULL).jobs

    assert job.name == "nightly-report"
    assert job.body == {
        "kind": "shell",
        "schedule": {
            "cron": "30 2 * * *",
            "timezone": "Europe/Berlin",
            "misfire": {"start_deadline": "200s"},
        },
        "payload": {
            "argv": [
                *("/usr/bin/env", "python3", "-m", "report", "--bucket", "reports", "$(WHO)"),
            ],
            "env": {"BUCKET": "reports"},
            "cwd": "/srv",
        },
        "overlap": "skip",
        "retries": {"max": 2, "base": "10s", "cap": "6m"},
        "timeout": "none",
        "deadline": "3600s",
        "paused": True,
        "labels": {"namespace": "billing"},
    }


def test_what_is_not_carried_over_is_told_by_its_line() -> None:
    found = imported(FULL)

    assert [str(each) for each in found.notes] == [
        "jobs.yaml:30: PASSWORD is not imported: its value is not in the file (valueFrom)",
        "jobs.yaml:25: $(WHO) is unknown and left as it is",
        "jobs.yaml:23: commands run on a worker, not in their images; install what they need there",
        "jobs.yaml:33: resources is not imported",
        "jobs.yaml:19: serviceAccountName is not imported",
    ]
    assert found.skipped == []


def test_the_controllers_defaults_are_carried_over() -> None:
    found = imported(small())

    (job,) = found.jobs
    assert (job.body["overlap"], job.body["retries"]["max"]) == ("allow", 6)
    assert found.notes[0].message == "no timeZone; times are in UTC"


def test_a_bad_one_is_left_out_and_the_others_are_imported() -> None:
    bad = small('"99 * * * *"').replace("small", "bad")
    bare = small(command="args: [x]").replace("small", "bare")
    two = small(command="command: [/bin/true]}\n            - {name: b, image: b").replace(
        "small", "two"
    )
    other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"

    found = imported(f"{bad}---\n{other}---\n{bare}---\n{small()}---\n{two}")

    assert [job.name for job in found.jobs] == ["small"]
    assert [str(each) for each in found.skipped] == [
        "jobs.yaml:5: minute must be 0–59 (got 99)",
        "jobs.yaml:22: the container has no command; the default of image 'a' is unknown",
        "jobs.yaml:46: the pod has 2 containers; only pods with one container can be imported",
    ]


def test_a_list_as_kubectl_gives_it() -> None:
    inner = "\n".join(f"    {line}" for line in small().splitlines())
    text = f"apiVersion: v1\nkind: List\nitems:\n  - {inner.strip()}\n"

    assert [job.name for job in imported(text).jobs] == ["small"]


def test_what_is_no_yaml_is_left_out_with_its_line() -> None:
    found = imported("kind: CronJob\nspec: [\n")

    (left,) = found.skipped
    assert left.place == "jobs.yaml:3"
