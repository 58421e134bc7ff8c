"""Payloads that name a secret: `{{secret:smtp-password}}`. Room: core.

What is stored, shown and compared is the reference; the value takes its place in the worker, for
one attempt (flow/execute/unlocking.py). It is put in as it is: no expressions, and what a value
holds is not looked through again.

Only what somebody wrote who may define jobs is a reference. Text that comes in from elsewhere and
fills a place of a payload (an event, the result of a step, an item of a map) must not hold one, or
whoever sends an event could have any secret sent to wherever the job sends its data.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.core.submission import check_name, json_text

MARK: Final = "{{secret:"
# Names may hold nearly anything; braces and outer spaces are left out to find what was mistyped.
REFERENCE: Final = re.compile(r"\{\{secret:([^\s{}](?:[^{}]*[^\s{}])?)\}\}")
# Fields whose text everybody on the machine of the worker can read, by the kind of the job.
PUBLIC: Final[Mapping[str, tuple[str, ...]]] = {"shell": ("argv", "cwd")}
# In a template, an object with this key alone is a place to fill.
PLACE: Final = "$"


def payload_text(value: object, field: str = "payload", *, kind: str = "") -> str | None:
    """A payload that is handed in, as JSON; a reference that is none is refused with its place."""
    text = json_text(value, field)
    if text is not None and MARK in text:
        check_references(value, field)
        refuse_public(kind, value, field)
    return text


def check_references(value: object, field: str = "payload") -> None:
    """Refuse what begins like a reference and does not go on like one."""
    if isinstance(value, str):
        _names(value, field)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if MARK in str(key):
                raise InvalidInput(field, key, "secrets in values, not in names of fields")
            check_references(inner, f"{field}.{key}")
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            check_references(inner, f"{field}[{place}]")


def refuse_public(kind: str, payload: object, field: str = "payload") -> None:
    """Refuse a secret where others could see it while the attempt runs."""
    if not isinstance(payload, Mapping):
        return
    for name in PUBLIC.get(kind, ()):
        if any(MARK in text for text in _texts(payload.get(name))):
            wanted = f"no secret in {name}, which others can see: give it in env or stdin"
            raise InvalidInput(f"{field}.{name}", MARK, wanted)


def names_in(value: object) -> set[str]:
    """The secrets that a payload names; `InvalidInput` if a reference is none."""
    return {name for text in _texts(value) if MARK in text for name in _names(text, "payload")}


def bound(value: Any, secrets: Mapping[str, str]) -> Any:
    """The payload with its secrets in their places; all that it names must be there."""
    return _mapped(value, lambda text: REFERENCE.sub(lambda at: secrets[_name(at[1])], text))


def only_written(text: str, template: object) -> str:
    """A payload as JSON that was made by filling a template, if no data brought a reference."""
    if MARK in text and text.count(MARK) > _written(template):
        wanted = f"data without {MARK}…}}}}: only a job itself may name a secret"
        raise InvalidInput("payload", MARK, wanted)
    return text


def _written(template: object) -> int:
    """How many references stand in a template outside its places."""
    if isinstance(template, str):
        return template.count(MARK)
    if isinstance(template, Mapping):
        if PLACE in template:
            return 0
        return sum(key.count(MARK) + _written(inner) for key, inner in template.items())
    if isinstance(template, list | tuple):
        return sum(map(_written, template))
    return 0


def _names(text: str, field: str) -> list[str]:
    found = REFERENCE.findall(text)
    if len(found) < text.count(MARK):
        raise InvalidInput(field, text, "references such as {{secret:name}}, each closed")
    return [_name(each, field) for each in found]


def _name(written: str, field: str = "payload") -> str:
    """Composed the way in which names of secrets are kept."""
    return check_name(written, field)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value) if MARK in value else value
    if isinstance(value, dict):
        return {key: _mapped(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [_mapped(inner, change) for inner in value]
    return value
