"""Reads JSON, YAML and labels from arguments, `@file` and `-` (standard input)."""

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

from rota.core.errors import InvalidInput

EXPECTED_JSON: Final = "expected JSON, @file, or - for standard input"
_NUMBER: Final = re.compile(r"-?\d{1,15}(?:\.\d{1,9})?")


def read_json(text: str | None, *, field: str) -> Any:
    """Return the value of an argument; None without one."""
    if text is None:
        return None
    source, where = _text(text, field=field)
    try:
        return json.loads(source)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        wanted = f"{EXPECTED_JSON} ({error.msg} at {place}{where})"
        raise InvalidInput(field, text, wanted) from None


def _text(text: str, *, field: str) -> tuple[str, str]:
    if text == "-":
        return sys.stdin.read(), " of standard input"
    if text.startswith("@"):
        return read_file(Path(text[1:]), field=field), f" of {text[1:]}"
    return text, ""


def read_file(path: Path, *, field: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        wanted = f"cannot read the file: {error.strerror}"
        raise InvalidInput(field, str(path), wanted) from None
    except UnicodeDecodeError:
        raise InvalidInput(field, str(path), "expected a file in UTF-8") from None


def read_document(path: str, *, field: str) -> Any:
    """Read a JSON or YAML file, by its suffix; `-` is JSON on standard input."""
    if path == "-":
        return read_json("-", field=field)
    file = Path(path)
    if file.suffix not in {".yaml", ".yml"}:
        return read_json(f"@{path}", field=field)
    import yaml  # noqa: PLC0415 - only for such files

    try:
        return yaml.safe_load(read_file(file, field=field))
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise InvalidInput(field, path, f"expected YAML ({reason})") from None


def parse_labels(labels: list[str] | None) -> dict[str, str] | None:
    """Parse labels, each written as `team=billing` or `team:billing`."""
    if not labels:
        return None
    found = {}
    for label in labels:
        name, sign, value = label.partition("=" if "=" in label else ":")
        if not name or not sign:
            raise InvalidInput("--label", label, "expected NAME=VALUE, such as team=billing")
        found[name] = value
    return found


def parse_settings(pairs: list[str], *, field: str) -> dict[str, Any] | None:
    """Parse the fields of a document, each written as `name=value` or `outer.inner=value`.

    A whole document may be given as JSON or @file. `none` means no document.
    """
    if pairs == ["none"]:
        return None
    if len(pairs) == 1 and pairs[0].startswith(("{", "@")):
        found = read_json(pairs[0], field=field)
        if not isinstance(found, dict):
            raise InvalidInput(field, pairs[0], "expected a JSON object")
        return found
    document: dict[str, Any] = {}
    for pair in pairs:
        path, sign, text = pair.partition("=")
        names = path.strip().split(".")
        if not sign or not all(names):
            raise InvalidInput(field, pair, "expected NAME=VALUE, such as finish_by=06:00")
        place = document
        for name in names[:-1]:
            place = place.setdefault(name, {})
            if not isinstance(place, dict):
                wanted = f"contradicts another {field} that sets {name}; give only one of them"
                raise InvalidInput(field, pair, wanted)
        place[names[-1]] = _parse_scalar(text.strip())
    return document


def _parse_scalar(text: str) -> Any:
    """Return a whole or decimal number, true, false or a JSON object as such, the rest as text."""
    if text in {"true", "false"} or text.startswith("{") or _NUMBER.fullmatch(text):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text
