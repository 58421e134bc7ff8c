"""`rota import` of files and modules: what is printed, written and refused. No server is asked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rota.sdk.jobs_as_code import manifest

CELERY = """
from datetime import timedelta
from types import SimpleNamespace as Object

entries = {"poll": {"task": "shop.poll", "schedule": timedelta(minutes=5), "kwargs": {"n": 1}}}
app = Object(conf=Object(timezone="Europe/Berlin", beat_schedule=entries))
"""
CRON_JOB = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: NAME}
spec:
  schedule: "0 3 * * *"
  timeZone: Europe/Berlin
  jobTemplate: {spec: {template: {spec: {containers: [{name: a, command: [/bin/true]}]}}}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(CELERY)
    (tmp_path / "broken.py").write_text("raise KeyError('no settings')\n")
    (tmp_path / "one.yaml").write_text(CRON_JOB.replace("NAME", "one"))
    (tmp_path / "two.yaml").write_text(
        CRON_JOB.replace("NAME", "two") + "---\n" + CRON_JOB.replace("NAME", "one")
    )
    return tmp_path


def rota(folder: Path, *words: str) -> tuple[int, str, str]:
    nobody = {"ROTA_URL": "http://127.0.0.1:1"}
    done = subprocess.run(
        [sys.executable, "-m", "rota", "import", *words],
        cwd=folder,
        env=os.environ | nobody,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_celery_app_is_read_from_the_folder_that_the_command_is_in(folder: Path) -> None:
    code, out, err = rota(folder, "celery", "shop:app", "--out", "rota.yaml", "--project", "shop")

    assert (code, out, err) == (0, "", "rota: Wrote 1 job to rota.yaml\n")
    found = manifest.load_manifest(folder / "rota.yaml")
    assert found.project == "shop"
    (job,) = found.jobs
    assert (job.name, job.body) == (
        "poll",
        {"kind": "shop.poll", "schedule": {"every": "PT5M"}, "payload": {"n": 1}},
    )


def test_several_files_of_kubernetes_are_one_manifest_and_a_name_twice_is_told(
    folder: Path,
) -> None:
    code, out, err = rota(folder, "kubernetes", "one.yaml", "two.yaml")

    assert code == 1
    assert "rota: skipped: two.yaml: duplicate CronJob 'one'\n" in err
    (folder / "rota.yaml").write_text(out)
    assert [job.name for job in manifest.load_manifest(folder / "rota.yaml").jobs] == ["one", "two"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("celery", "broken:app"), "KeyError: 'no settings'"),
        (("celery", "nowhere:app"), "cannot import 'nowhere': no module named 'nowhere'"),
        (("apscheduler", "shop:app"), "get_jobs()"),
        (("crontab", "nothing"), "no such file: nothing"),
        (("crontab", "shop.py", "--tz", "Mars/Olympus"), "an IANA time zone name"),
    ],
)
def test_a_mistake_is_one_sentence(folder: Path, words: tuple[str, ...], said: str) -> None:
    code, out, err = rota(folder, *words)

    assert (code, out) == (64, "")
    assert said in err
    assert len(err.splitlines()) == 1
