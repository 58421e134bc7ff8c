"""An imported crontab says what it still needs, and keeps whom cron told (I5)."""

import pytest
import yaml
from tests.support.installation import Installation

CRONTAB = """\
SHELL=/bin/bash
MAILTO=ops@example.org
0 3 * * * /usr/bin/backup --full
"""


@pytest.fixture
def crontab(installation: Installation) -> str:
    file = installation.folder / "crontab.txt"
    file.write_text(CRONTAB)
    return str(file)


def test_jobs_that_no_worker_can_run_are_told_with_the_setting_that_is_missing(
    installation: Installation, crontab: str
) -> None:
    options = ("--tz", "UTC", "--project", "cron-import")
    applied = installation.rota("import", "crontab", crontab, *options, "--apply", "--yes")
    doctor = installation.rota("doctor")
    shown = installation.rota("jobs", "show", "backup").out
    exported = installation.rota("export", "--project", "cron-import").out
    document = yaml.safe_load(exported)
    # Others have jobs here as well, which must not become jobs of this project.
    document["jobs"] = {"backup": document["jobs"]["backup"]}
    (installation.folder / "exported.yaml").write_text(yaml.safe_dump(document))
    again = installation.rota("apply", "exported.yaml", "--yes")
    misspelt = installation.rota("jobs", "show", "bakcup")
    installation.rota("jobs", "delete", "backup", "--yes")

    needed = (
        'set executors.shell_allow = ["/bin/bash"] for a worker '
        "(and executors.shell_user if it runs as root), then restart the worker"
    )
    assert (applied.code, needed in applied.err) == (0, True)
    assert "no live worker serves kind 'shell'; the runs of 1 job will wait" in applied.err
    assert f"→ {needed[0].upper()}{needed[1:]}" in doctor.out
    assert "mailto" in shown
    assert "ops@example.org" in shown
    assert "mailto: ops@example.org" in exported
    assert "0 to update" in again.out
    assert needed in again.err
    assert (misspelt.code, "did you mean 'backup'?" in misspelt.err) == (66, True)
