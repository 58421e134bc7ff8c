"""Looks for known vulnerabilities in everything that is locked: `make audit`.

pip-audit reads the lock files of Python, npm the one of the dashboard. Both ask a database of
advisories over the network, so this is no part of `make test`. pip-audit reports "no known
vulnerabilities" also if no database answered; here that is an error of its own.

Exit codes: 0 nothing is known, 1 something is, 2 no database answered for some packages.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools import web

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements"
UV = ROOT / ".venv" / "uv" / "bin" / "uv"
HOME = ROOT / ".venv" / "audit"
PROGRAM = HOME / "bin" / "pip-audit"
# dev.lock has all that run.lock has.
LOCKS = ("dev.lock", "bootstrap.lock", "node.lock", "audit.lock")
# Tried in this order; the second one only for a lock of which the first knew nothing.
SERVICES = ("pypi", "osv")
FOUND, UNKNOWN = 1, 2


@dataclass
class Audit:
    """What is known about the packages of one lock file."""

    lock: str
    packages: int = 0
    findings: list[str] = field(default_factory=list)
    not_audited: list[str] = field(default_factory=list)
    reason: str = ""

    @property
    def is_complete(self) -> bool:
        return not self.reason and not self.not_audited


def main() -> int:
    install()
    audits = [audit_python(name) for name in LOCKS]
    audits.append(audit_web())
    for each in audits:
        print("\n".join(describe(each)), flush=True)
    return exit_code(audits)


def exit_code(audits: list[Audit]) -> int:
    """0 if nothing is known against any package, 1 for findings, 2 if some were not audited."""
    if any(each.findings for each in audits):
        return FOUND
    return 0 if all(each.is_complete for each in audits) else UNKNOWN


def install() -> None:
    """pip-audit in an environment of its own, from its lock file."""
    if not (HOME / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", HOME], check=True)
    sync: list[str | Path] = [UV, "pip", "--quiet", "--no-config", "sync", "--require-hashes"]
    python = HOME / "bin" / "python"
    subprocess.run([*sync, "--python", python, REQUIREMENTS / "audit.lock"], check=True)


def audit_python(name: str) -> Audit:
    found = Audit(f"requirements/{name}", reason="no service was asked")
    for service in SERVICES:
        command: list[str | Path] = [
            PROGRAM,
            "--disable-pip",
            "--require-hashes",
            "--progress-spinner",
            "off",
        ]
        command += ["--format", "json", "--vulnerability-service", service]
        done = subprocess.run(
            [*command, "--requirement", REQUIREMENTS / name],
            capture_output=True,
            text=True,
            check=False,
        )
        tried = read_pip_audit(found.lock, done.stdout, done.stderr)
        if found.reason or tried.is_complete:
            found = tried
        if found.is_complete or len(found.not_audited) < found.packages:
            break
    return found


def audit_web() -> Audit:
    name = "web/package-lock.json"
    try:
        npm = web.find_npm(web.find_node())
    except web.Impossible as error:
        return Audit(name, reason=str(error))
    done = subprocess.run(
        [*npm, "audit", "--package-lock-only", "--json"],
        cwd=web.WEB,
        capture_output=True,
        text=True,
        check=False,
    )
    return read_npm_audit(name, done.stdout, done.stderr)


def read_pip_audit(lock: str, output: str, errors: str) -> Audit:
    """What pip-audit says in its JSON. A package that it skipped is not audited."""
    try:
        packages: list[dict[str, Any]] = json.loads(output)["dependencies"]
    except (ValueError, KeyError):
        return Audit(lock, reason=last_line(errors) or "pip-audit said nothing")
    found = Audit(lock, packages=len(packages))
    for package in packages:
        if "skip_reason" in package:
            found.not_audited.append(package["name"])
        for each in package.get("vulns", ()):
            fixed = ", ".join(each.get("fix_versions", ())) or "no release"
            name = f"{package['name']} {package['version']}"
            found.findings.append(f"{name}: {each['id']} (fixed in {fixed})")
    return found


def read_npm_audit(lock: str, output: str, errors: str) -> Audit:
    """What npm says in its JSON; instead of a report it may be an error of the registry."""
    try:
        report = json.loads(output)
    except ValueError:
        return Audit(lock, reason=last_line(errors) or "npm said nothing")
    if "vulnerabilities" not in report:
        status = report.get("statusCode")
        reason = f"the registry answered {status}" if status else "the registry did not answer"
        return Audit(lock, reason=reason)
    total = report.get("metadata", {}).get("dependencies", {}).get("total", 0)
    found = Audit(lock, packages=total)
    for name, each in report["vulnerabilities"].items():
        severity, versions = each.get("severity", "unknown"), each.get("range", "")
        found.findings.append(f"{name} {versions}: {severity}")
    return found


def describe(audit: Audit) -> list[str]:
    """A line for the lock file, and one for each finding."""
    if audit.reason:
        said = f"NOT AUDITED: {audit.reason}"
        return [f"{audit.lock}: {said}; run this where a database of advisories can be reached"]
    lines = [f"{audit.lock}: {finding}" for finding in audit.findings]
    known = audit.packages - len(audit.not_audited)
    lines.append(f"{audit.lock}: {len(audit.findings)} findings in {known} packages")
    if audit.not_audited:
        names = ", ".join(audit.not_audited[:5]) + (" …" if len(audit.not_audited) > 5 else "")
        count = f"{len(audit.not_audited)} of {audit.packages} packages"
        lines.append(
            f"{audit.lock}: NOT AUDITED: {count} ({names}): no database of advisories answered "
            "for them; run this where one can be reached"
        )
    return lines


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""


if __name__ == "__main__":
    raise SystemExit(main())
