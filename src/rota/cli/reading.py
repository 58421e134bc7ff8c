"""JSON and files in arguments: `'{"a": 1}'`, `@file.json`, `-` for standard input. Room: cli."""

import json
import sys
from pathlib import Path
from typing import Any, Final

from rota.core.errors import InvalidInput

WANTED: Final = "JSON, @file or - for standard input"


def json_of(text: str | None, *, field: str) -> Any:
    """The value that an argument means; None if it was not given."""
    if text is None:
        return None
    source, where = _text(text, field=field)
    try:
        return json.loads(source)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        wanted = f"{WANTED} is needed: {error.msg} at {place}{where}"
        raise InvalidInput(field, text, wanted) from None


def _text(text: str, *, field: str) -> tuple[str, str]:
    if text == "-":
        return sys.stdin.read(), " of standard input"
    if text.startswith("@"):
        return file_text(Path(text[1:]), field=field), f" of {text[1:]}"
    return text, ""


def file_text(path: Path, *, field: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        wanted = f"a file that can be read is needed: {error.strerror}"
        raise InvalidInput(field, str(path), wanted) from None
    except UnicodeDecodeError:
        raise InvalidInput(field, str(path), "a file in UTF-8 is needed") from None


def document_of(path: str, *, field: str) -> Any:
    """A file of JSON or YAML, by its name; `-` is JSON on standard input."""
    if path == "-":
        return json_of("-", field=field)
    file = Path(path)
    if file.suffix not in {".yaml", ".yml"}:
        return json_of(f"@{path}", field=field)
    import yaml  # noqa: PLC0415 - only for such files

    try:
        return yaml.safe_load(file_text(file, field=field))
    except yaml.YAMLError as error:
        said = " ".join(str(error).split())
        raise InvalidInput(field, path, f"YAML is needed: {said}") from None


def labels_of(given: list[str] | None) -> dict[str, str] | None:
    """`team=billing` or `team:billing`, any number of them."""
    if not given:
        return None
    found = {}
    for each in given:
        name, sign, value = each.partition("=" if "=" in each else ":")
        if not name or not sign:
            raise InvalidInput("--label", each, "a name and a value, as in team=billing")
        found[name] = value
    return found
