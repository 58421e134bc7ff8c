"""The result of a check: a level, a sentence and a remedy."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

START_SCHEDULER: Final = "start one with `rota scheduler`, or everything with `rota up`"
START_WORKER: Final = "start one with `rota worker module:app`, or everything with `rota up`"


class FindingLevel(StrEnum):
    OK = "ok"
    WARNING = "warning"
    BAD = "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorFinding:
    level: FindingLevel
    check: str
    detail: str
    remedy: str | None = None


def ok(check: str, detail: str) -> DoctorFinding:
    return DoctorFinding(level=FindingLevel.OK, check=check, detail=detail)


def warning(check: str, detail: str, remedy: str) -> DoctorFinding:
    return DoctorFinding(level=FindingLevel.WARNING, check=check, detail=detail, remedy=remedy)


def bad(check: str, detail: str, remedy: str) -> DoctorFinding:
    return DoctorFinding(level=FindingLevel.BAD, check=check, detail=detail, remedy=remedy)


def format_count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
