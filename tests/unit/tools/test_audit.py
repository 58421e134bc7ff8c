"""`make audit` tells what is known, and does not take silence for good news."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tools.audit import Audit, describe, exit_code, read_npm_audit, read_pip_audit

LOCK = Path(__file__).parents[3] / "requirements" / "audit.lock"


def pip(*packages: dict[str, Any]) -> Audit:
    return read_pip_audit("x.lock", json.dumps({"dependencies": packages, "fixes": []}), "")


def test_a_known_vulnerability_of_a_python_package_is_a_finding() -> None:
    vulnerability = {"id": "PYSEC-2024-1", "fix_versions": ["2.1"], "aliases": []}

    found = pip({"name": "a", "version": "2.0", "vulns": [vulnerability]})

    assert found.findings == ["a 2.0: PYSEC-2024-1 (fixed in 2.1)"]
    assert found.is_complete


def test_packages_that_no_database_knows_are_not_audited() -> None:
    skipped = {"name": "uv", "skip_reason": "Dependency not found and could not be audited"}

    found = pip(skipped, {"name": "a", "version": "1", "vulns": []})

    assert (found.not_audited, found.is_complete) == (["uv"], False)
    assert "NOT AUDITED: 1 of 2 packages (uv)" in describe(found)[-1]


@pytest.mark.parametrize("output", ["", "Traceback", "{}"])
def test_a_program_that_says_nothing_has_audited_nothing(output: str) -> None:
    for read in (read_pip_audit, read_npm_audit):
        found = read("x.lock", output, "first\nConnectionError: no route\n")

        assert not found.is_complete
        assert "NOT AUDITED" in describe(found)[0]


def test_a_registry_without_advisories_has_audited_nothing() -> None:
    found = read_npm_audit("x", json.dumps({"statusCode": 405, "error": {}}), "")

    assert (found.reason, found.is_complete) == ("the registry answered 405", False)


def test_a_known_vulnerability_of_a_package_of_the_page_is_a_finding() -> None:
    report = {
        "auditReportVersion": 2,
        "vulnerabilities": {"vite": {"severity": "high", "range": "<8"}},
        "metadata": {"dependencies": {"total": 200}},
    }

    found = read_npm_audit("x", json.dumps(report), "")

    assert (found.findings, found.packages) == (["vite <8: high"], 200)


@pytest.mark.parametrize(
    ("of_python", "of_web", "code"),
    [
        (Audit("a", packages=1), Audit("b", packages=1), 0),
        (Audit("a", packages=1, findings=["x"]), Audit("b", reason="away"), 1),
        (Audit("a", packages=1), Audit("b", reason="away"), 2),
        (Audit("a", packages=1, not_audited=["x"]), Audit("b", packages=1), 2),
    ],
)
def test_the_exit_code_tells_findings_from_silence(
    of_python: Audit, of_web: Audit, code: int
) -> None:
    assert exit_code([of_python, of_web]) == code


def test_its_lock_has_hashes_and_names_no_host() -> None:
    text = LOCK.read_text()

    assert not re.search(r"https?://", text)
    assert text.count("==") == len(re.findall(r"== ?\S+.*\\\n    --hash=sha256:", text))
