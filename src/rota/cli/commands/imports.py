"""`rota import`: converts the jobs of other schedulers to a manifest.

The manifest is printed, written (`--out`) or applied (`--apply`). Skipped entries are listed on
standard error, and the exit code is 1. With `--strict`, nothing happens if an entry was skipped.
"""

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final

from cyclopts import App, Parameter

from rota.cli.api_options import (
    DEFAULT_API_OPTIONS,
    SWITCH,
    YES_FLAG,
    ApiOptions,
    print_warnings,
    require_arguments,
)
from rota.cli.commands.jobs_as_code import apply_manifest, format_count, write_manifest
from rota.core.errors import InvalidInput, UnusableInput
from rota.core.origins import ChangeOrigin
from rota.core.time import zones
from rota.runtime.clock import SystemClock
from rota.sdk.importers import apscheduler_jobs, celery_beat, crontab, kubernetes, modules
from rota.sdk.importers.import_result import ImportedJobs
from rota.sdk.jobs_as_code import manifest, yaml_reader
from rota.sdk.jobs_as_code.manifest_writer import render_manifest

STDIN: Final = "-"
ALLOW_HYPHEN: Final = Parameter(allow_leading_hyphen=True)
LOCALTIME: Final = Path("/etc/localtime")
SYSTEM_CRONTABS: Final = ("/etc/crontab", "/etc/cron.d/")

app = App(name="import", help="Import jobs from cron, Kubernetes, Celery beat or APScheduler.")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
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
    yes: Annotated[bool, YES_FLAG] = False
    strict: Annotated[bool, SWITCH] = False


DEFAULT_IMPORT_OPTIONS: Final = ImportOptions()


@app.command(name="crontab")
def import_crontab(
    *files: Annotated[str, ALLOW_HYPHEN],
    system: bool | None = None,
    tz: str | None = None,
    import_options: ImportOptions = DEFAULT_IMPORT_OPTIONS,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
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
    require_arguments("file", files)
    zone = tz or detect_local_zone()
    zones.get_zone(zone)
    found = crontab.create_result(zone, SystemClock().now())
    for file in files:
        is_system = file.startswith(SYSTEM_CRONTABS) if system is None else system
        how = crontab.Crontab(file=format_file_name(file), is_system=is_system, zone=zone)
        crontab.import_crontab(read_text(file), how, found)
    return deliver_import(
        found, ", ".join(map(format_file_name, files)), import_options, api_options
    )


@app.command(name="kubernetes")
def import_kubernetes(
    *files: Annotated[str, ALLOW_HYPHEN],
    import_options: ImportOptions = DEFAULT_IMPORT_OPTIONS,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Import CronJobs of Kubernetes.

    Parameters
    ----------
    files
        YAML files, or - for standard input (kubectl get cronjob -o yaml | …).
    """
    require_arguments("file", files)
    found = ImportedJobs(now=SystemClock().now())
    for file in files:
        more = kubernetes.import_cron_jobs(read_text(file), format_file_name(file), found.now)
        found.skipped += more.skipped
        found.notes += more.notes
        for job in more.jobs:
            if job.name in found.names:
                found.skip_entry(format_file_name(file), f"duplicate CronJob {job.name!r}")
            else:
                found.jobs.append(job)
                found.names.add(job.name)
    return deliver_import(
        found, ", ".join(map(format_file_name, files)), import_options, api_options
    )


@app.command(name="celery")
def import_celery(
    place: str,
    /,
    *,
    import_options: ImportOptions = DEFAULT_IMPORT_OPTIONS,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Import the beat_schedule of a Celery app. Requires Celery and the app in this environment.

    Parameters
    ----------
    place
        The Celery app, as module:name.
    """
    found = celery_beat.import_app(load_target(place), place, SystemClock().now())
    return deliver_import(found, place, import_options, api_options)


@app.command(name="apscheduler")
def import_apscheduler(
    place: str,
    /,
    *,
    import_options: ImportOptions = DEFAULT_IMPORT_OPTIONS,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Import the jobs of an APScheduler 3 scheduler. Requires it in this environment.

    Parameters
    ----------
    place
        The scheduler, as module:name.
    """
    found = apscheduler_jobs.import_scheduler(load_target(place), place, SystemClock().now())
    return deliver_import(found, place, import_options, api_options)


def deliver_import(
    imported: ImportedJobs, source: str, import_options: ImportOptions, api_options: ApiOptions
) -> int:
    """List skipped entries, then print, write or apply the manifest."""
    print_warnings([str(each) for each in imported.notes])
    print_warnings([f"skipped: {each}" for each in imported.skipped])
    if import_options.strict and imported.skipped:
        print_warnings(["nothing imported: --strict is set and entries were skipped"])
        return 1
    if import_options.apply and imported.channels:
        leave_out_unknown_channels(imported, api_options)
    text = render_manifest(
        import_options.project,
        imported.jobs,
        defaults=imported.defaults if imported.jobs else None,
        comments=[f"Imported from {source}."],
    )
    if import_options.apply:
        declared = manifest.combine_documents(yaml_reader.read_documents(text, source), source)
        code = apply_manifest(
            declared, api_options, prune=False, yes=import_options.yes, origin=ChangeOrigin.IMPORT
        )
        return code or int(bool(imported.skipped))
    write_manifest(text, import_options.out)
    if import_options.out is not None:
        print_warnings([f"Wrote {format_count(len(imported.jobs), 'job')} to {import_options.out}"])
    return int(bool(imported.skipped))


def leave_out_unknown_channels(imported: ImportedJobs, api_options: ApiOptions) -> None:
    """Let jobs report to the default channels while the server does not know their channel."""
    with api_options.open_client() as client:
        known = {channel.name for channel in client.list_channels().items}
        known |= {route.name for route in client.iterate(client.list_routes, limit=200)}
    unknown = imported.channels.keys() - known
    for place, job in enumerate(imported.jobs):
        if job.body.get("alert", {}).get("to") in unknown:
            body = {name: value for name, value in job.body.items() if name != "alert"}
            imported.jobs[place] = replace(job, body=body)
    if unknown:
        names = ", ".join(sorted(unknown))
        print_warnings(
            [f"the server does not know {names}; alerts go to the default channels instead"]
        )


def load_target(target: str) -> object:
    """Load `module:name`, also from the current folder."""
    sys.path.insert(0, str(Path.cwd()))
    return modules.load_object(target)


def read_text(file: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
        return raw.decode("utf-8-sig")
    except FileNotFoundError:
        raise UnusableInput("file", file, f"no such file: {file}") from None
    except OSError as error:
        raise InvalidInput("file", file, f"cannot read the file: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidInput("file", file, "expected a text file in UTF-8") from None


def format_file_name(file: str) -> str:
    return "standard input" if file == STDIN else file


def detect_local_zone() -> str:
    """Return the time zone of this machine. Default: UTC."""
    zone = os.environ.get("TZ", "").removeprefix(":")
    if zone and "/" in zone and not zone.startswith("/"):
        return zone
    parts = str(LOCALTIME.resolve()).partition("zoneinfo/")
    return parts[2] or "UTC"
