"""`rota doctor`: finds problems of an installation and suggests fixes."""

import asyncio
import os
from dataclasses import asdict
from pathlib import Path

from rota.cli.doctor.collector import check_collector
from rota.cli.doctor.database import check_database
from rota.cli.doctor.findings import Finding, Level, bad, ok
from rota.cli.doctor.here import check_files
from rota.cli.doctor.service import check_service
from rota.cli.options import TALK, Talk, write_json
from rota.cli.settings import settings_for
from rota.cli.tables import MOODS, coloured, screen_of, shown
from rota.config.settings import Settings
from rota.core.errors import InvalidSetting


def doctor(
    *,
    data: Path | None = None,
    config: Path | None = None,
    talk: Talk = TALK,
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
    findings = examine(data, config, talk)
    if talk.as_json:
        write_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            if not (talk.quiet and finding.level is Level.OK):
                tell(finding)
    return 1 if any(finding.level is Level.BAD for finding in findings) else 0


def examine(data: Path | None, config: Path | None, talk: Talk) -> list[Finding]:
    found: list[Finding] = []
    settings: Settings | None = None
    try:
        settings = settings_for(data=data, config=config)
    except InvalidSetting as error:
        remedy = "see docs/reference/settings.md for all settings"
        found.append(bad("settings", str(error), remedy))
    reached = False
    if settings is not None:
        found.append(ok("settings", "valid"))
        found += check_files(settings)
        found += check_collector(settings.traces, os.environ)
        seen = asyncio.run(collect(settings))
        reached = any(finding.check == "schedulers" for finding in seen)
        found += seen
    with talk.open() as client:
        found += check_service(client, with_processes=not reached)
    return found


async def collect(settings: Settings) -> list[Finding]:
    return [finding async for finding in check_database(settings.database)]


def tell(finding: Finding) -> None:
    level = coloured(f"{finding.level:<8}", MOODS[finding.level], screen_of())
    print(f"{level} {finding.check}: {shown(finding.detail)}")
    if finding.remedy is not None:
        print(f"         → {shown(finding.remedy)}")
