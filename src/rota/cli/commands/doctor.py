"""`rota doctor`: finds problems of an installation and suggests fixes."""

import asyncio
import os
from dataclasses import asdict
from pathlib import Path

from rota.cli.api_options import DEFAULT_API_OPTIONS, ApiOptions, print_json
from rota.cli.doctor.collector import check_collector
from rota.cli.doctor.database import check_database
from rota.cli.doctor.findings import DoctorFinding, FindingLevel, bad, ok
from rota.cli.doctor.local_machine import check_files
from rota.cli.doctor.service import check_service
from rota.cli.settings import load_settings
from rota.cli.tables import MOODS, colour_text, detect_screen, format_cell
from rota.config.settings import Settings
from rota.core.errors import InvalidSetting


def doctor(
    *,
    data: Path | None = None,
    config: Path | None = None,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Find problems of this installation and suggest fixes.

    Read-only: it starts, creates and changes nothing. The exit code is 1 if a check is bad;
    warnings alone exit with 0. With --quiet it prints only warnings and bad checks.

    Parameters
    ----------
    data
        Folder of the embedded database. Default: .rota in the current folder.
    config
        Settings file. Default: rota.toml in the current folder, then /etc/rota/rota.toml.
    """
    findings = run_checks(data, config, api_options)
    if api_options.as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            if not (api_options.quiet and finding.level is FindingLevel.OK):
                print_finding(finding)
    return 1 if any(finding.level is FindingLevel.BAD for finding in findings) else 0


def run_checks(
    data: Path | None, config: Path | None, api_options: ApiOptions
) -> list[DoctorFinding]:
    found: list[DoctorFinding] = []
    settings: Settings | None = None
    try:
        settings = load_settings(data=data, config=config)
    except InvalidSetting as error:
        remedy = "see docs/reference/settings.md for all settings"
        found.append(bad("settings", str(error), remedy))
    reached = False
    if settings is not None:
        found.append(ok("settings", "valid"))
        found += check_files(settings)
        found += check_collector(settings.traces, os.environ)
        seen = asyncio.run(collect_database_findings(settings))
        reached = any(finding.check == "schedulers" for finding in seen)
        found += seen
    with api_options.open_client() as client:
        found += check_service(client, with_processes=not reached)
    return found


async def collect_database_findings(settings: Settings) -> list[DoctorFinding]:
    return [finding async for finding in check_database(settings.database)]


def print_finding(finding: DoctorFinding) -> None:
    level = colour_text(f"{finding.level:<8}", MOODS[finding.level], detect_screen())
    print(f"{level} {finding.check}: {format_cell(finding.detail)}")
    if finding.remedy is not None:
        print(f"         → {format_cell(finding.remedy)}")
