"""`rota import`: converts the jobs of other schedulers to a manifest.

The manifest is printed, written (`--out`) or applied (`--apply`). Skipped entries are listed on
standard error, and the exit code is 1. With `--strict`, nothing happens if an entry was skipped.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from cyclopts import App, Parameter

from rota.cli.commands.jobs_as_code import apply_manifest, counted, deliver
from rota.cli.options import SWITCH, TALK, YES, Talk, some, warn
from rota.core.errors import InvalidInput, UnusableInput
from rota.core.origins import ChangeOrigin
from rota.core.time import zones
from rota.runtime.clock import SystemClock
from rota.sdk.importers import apscheduler_jobs, celery_beat, crontab, kubernetes, modules
from rota.sdk.importers.import_result import ImportedJobs
from rota.sdk.jobs_as_code import manifest, yaml_reader
from rota.sdk.jobs_as_code.manifest_writer import render_manifest

STDIN: Final = "-"
DASH: Final = Parameter(allow_leading_hyphen=True)
LOCALTIME: Final = Path("/etc/localtime")
SYSTEM: Final = ("/etc/crontab", "/etc/cron.d/")

app = App(name="import", help="Import jobs from cron, Kubernetes, Celery beat or APScheduler.")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Whither:
    """What to do with the imported jobs.

    Parameters
    ----------
    project
        Project of the jobs. Default: imported.
    out
        File to write; an existing file is not overwritten. Default: standard output.
    apply
        Apply the manifest, after showing what would change.
    yes
        Skip the confirmation.
    strict
        Do nothing if an entry cannot be imported.
    """

    project: str = "imported"
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None
    apply: Annotated[bool, SWITCH] = False
    yes: Annotated[bool, YES] = False
    strict: Annotated[bool, SWITCH] = False


USUAL: Final = Whither()


@app.command(name="crontab")
def import_crontab(
    *files: Annotated[str, DASH],
    system: bool | None = None,
    tz: str | None = None,
    whither: Whither = USUAL,
    talk: Talk = TALK,
) -> int:
    """Import crontabs.

    Parameters
    ----------
    files
        Crontab files, or - for standard input (crontab -l | rota import crontab -).
    system
        Whether the sixth column is a user. Default: only for /etc/crontab and /etc/cron.d.
    tz
        Time zone of the crontab. Default: this machine's zone.
    """
    some("file", files)
    zone = tz or local_zone()
    zones.get_zone(zone)
    found = crontab.create_result(zone, SystemClock().now())
    for file in files:
        is_system = file.startswith(SYSTEM) if system is None else system
        how = crontab.Crontab(file=shown(file), is_system=is_system, zone=zone)
        crontab.import_crontab(text_of(file), how, found)
    return finish(found, ", ".join(map(shown, files)), whither, talk)


@app.command(name="kubernetes")
def import_kubernetes(
    *files: Annotated[str, DASH], whither: Whither = USUAL, talk: Talk = TALK
) -> int:
    """Import CronJobs of Kubernetes.

    Parameters
    ----------
    files
        YAML files, or - for standard input (kubectl get cronjob -o yaml | …).
    """
    some("file", files)
    found = ImportedJobs(now=SystemClock().now())
    for file in files:
        more = kubernetes.import_cron_jobs(text_of(file), shown(file), found.now)
        found.skipped += more.skipped
        found.notes += more.notes
        for job in more.jobs:
            if job.name in found.names:
                found.skip_entry(shown(file), f"duplicate CronJob {job.name!r}")
            else:
                found.jobs.append(job)
                found.names.add(job.name)
    return finish(found, ", ".join(map(shown, files)), whither, talk)


@app.command(name="celery")
def import_celery(place: str, /, *, whither: Whither = USUAL, talk: Talk = TALK) -> int:
    """Import the beat_schedule of a Celery app. Requires Celery and the app in this environment.

    Parameters
    ----------
    place
        The Celery app, as module:name.
    """
    found = celery_beat.import_app(from_here(place), place, SystemClock().now())
    return finish(found, place, whither, talk)


@app.command(name="apscheduler")
def import_apscheduler(place: str, /, *, whither: Whither = USUAL, talk: Talk = TALK) -> int:
    """Import the jobs of an APScheduler 3 scheduler. Requires it in this environment.

    Parameters
    ----------
    place
        The scheduler, as module:name.
    """
    found = apscheduler_jobs.import_scheduler(from_here(place), place, SystemClock().now())
    return finish(found, place, whither, talk)


def finish(found: ImportedJobs, source: str, whither: Whither, talk: Talk) -> int:
    """List skipped entries, then print, write or apply the manifest."""
    warn([str(each) for each in found.notes])
    warn([f"skipped: {each}" for each in found.skipped])
    if whither.strict and found.skipped:
        warn(["nothing imported: --strict is set and entries were skipped"])
        return 1
    text = render_manifest(
        whither.project,
        found.jobs,
        defaults=found.defaults if found.jobs else None,
        comments=[f"Imported from {source}."],
    )
    if whither.apply:
        declared = manifest.combine_documents(yaml_reader.read_documents(text, source), source)
        code = apply_manifest(
            declared, talk, prune=False, yes=whither.yes, origin=ChangeOrigin.IMPORT
        )
        return code or int(bool(found.skipped))
    deliver(text, whither.out)
    if whither.out is not None:
        warn([f"Wrote {counted(len(found.jobs), 'job')} to {whither.out}"])
    return int(bool(found.skipped))


def from_here(place: str) -> object:
    """Load `module:name`, also from the current folder."""
    sys.path.insert(0, str(Path.cwd()))
    return modules.load_object(place)


def text_of(file: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
        return raw.decode("utf-8-sig")
    except FileNotFoundError:
        raise UnusableInput("file", file, f"no such file: {file}") from None
    except OSError as error:
        raise InvalidInput("file", file, f"cannot read the file: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidInput("file", file, "expected a text file in UTF-8") from None


def shown(file: str) -> str:
    return "standard input" if file == STDIN else file


def local_zone() -> str:
    """Return the time zone of this machine. Default: UTC."""
    zone = os.environ.get("TZ", "").removeprefix(":")
    if zone and "/" in zone and not zone.startswith("/"):
        return zone
    parts = str(LOCALTIME.resolve()).partition("zoneinfo/")
    return parts[2] or "UTC"
