"""Finds and resolves secret references in payloads: `{{secret:smtp-password}}`.

Rota stores, shows and compares the reference. The worker replaces it by the value for one attempt
(engine/execution/attempt_secrets.py). References have no expressions, and the inserted value is
not searched for references again.

Only a caller who may define jobs may write a reference. Data that fills a placeholder of a payload
(an event, the result of a step, an item of a map) must not contain one; otherwise the sender of an
event could make the job send any secret to the job's receiver.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.core.submissions import check_name, encode_json

REFERENCE_START: Final = "{{secret:"
# Names may contain nearly any character, except braces and outer spaces, to detect typing errors.
REFERENCE_PATTERN: Final = re.compile(r"\{\{secret:([^\s{}](?:[^{}]*[^\s{}])?)\}\}")
# Fields that every user of the worker's machine can read, by kind.
PUBLIC_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {"shell": ("argv", "cwd")}
# In a template, an object with only this key is a placeholder.
PLACEHOLDER_KEY: Final = "$"


def encode_payload(value: object, field: str = "payload", *, kind: str = "") -> str | None:
    """Return a payload from input as JSON; reject a malformed reference, with its path."""
    text = encode_json(value, field)
    if text is not None and REFERENCE_START in text:
        check_references(value, field)
        reject_public_secrets(kind, value, field)
    return text


def check_references(value: object, field: str = "payload") -> None:
    """Reject text that begins like a reference but is malformed."""
    if isinstance(value, str):
        _find_names(value, field)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if REFERENCE_START in str(key):
                wanted = "secret references are allowed in values, not in field names"
                raise InvalidInput(field, key, wanted)
            check_references(inner, f"{field}.{key}")
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            check_references(inner, f"{field}[{place}]")


def reject_public_secrets(kind: str, payload: object, field: str = "payload") -> None:
    """Reject a secret in a field that other users can see while the attempt runs."""
    if not isinstance(payload, Mapping):
        return
    for name in PUBLIC_FIELDS.get(kind, ()):
        if any(REFERENCE_START in text for text in _find_texts(payload.get(name))):
            wanted = f"other users can see {name}; pass the secret in env or stdin"
            raise InvalidInput(f"{field}.{name}", REFERENCE_START, wanted)


def find_secret_names(value: object) -> set[str]:
    """Return the secrets that a payload references; raise `InvalidInput` if one is malformed."""
    texts = (text for text in _find_texts(value) if REFERENCE_START in text)
    return {name for text in texts for name in _find_names(text, "payload")}


def insert_secrets(value: Any, secrets: Mapping[str, str]) -> Any:
    """Return the payload with its references replaced; `secrets` must have all of them."""
    return _map_texts(
        value,
        lambda text: REFERENCE_PATTERN.sub(lambda match: secrets[_check_secret(match[1])], text),
    )


def reject_references_from_data(text: str, template: object) -> str:
    """Return a payload that was made from a template, as JSON; reject references from data."""
    if REFERENCE_START in text and text.count(REFERENCE_START) > _count_references(template):
        wanted = (
            f"data must not contain {REFERENCE_START}…}}}}; only the job itself may reference a "
            "secret"
        )
        raise InvalidInput("payload", REFERENCE_START, wanted)
    return text


def _count_references(template: object) -> int:
    """Return the number of references in a template outside its placeholders."""
    if isinstance(template, str):
        return template.count(REFERENCE_START)
    if isinstance(template, Mapping):
        if PLACEHOLDER_KEY in template:
            return 0
        return sum(
            key.count(REFERENCE_START) + _count_references(inner) for key, inner in template.items()
        )
    if isinstance(template, list | tuple):
        return sum(map(_count_references, template))
    return 0


def _find_names(text: str, field: str) -> list[str]:
    names = REFERENCE_PATTERN.findall(text)
    if len(names) < text.count(REFERENCE_START):
        wanted = "expected references such as {{secret:name}}, each closed by }}"
        raise InvalidInput(field, text, wanted)
    return [_check_secret(name, field) for name in names]


def _check_secret(name: str, field: str = "payload") -> str:
    """Return the name in the Unicode form in which secrets are stored."""
    return check_name(name, field)


def _find_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _find_texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _find_texts(inner)


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value) if REFERENCE_START in value else value
    if isinstance(value, dict):
        return {key: _map_texts(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [_map_texts(inner, change) for inner in value]
    return value
