"""The payloads of HTTP jobs and webhooks as JSON Schema, for forms. Room: executors/http.

Only a description: what is refused is said in spec.py and webhook_spec.py.
"""

from typing import Any, Final

from rota.executors.http.spec import METHODS, MOST_READ, MOST_REDIRECTS

_PASSED_ON: Final[dict[str, Any]] = {
    "url": {"type": "string", "format": "uri", "description": "Where to send it."},
    "headers": {
        "type": "object",
        "additionalProperties": {"type": "string"},
        "description": "Headers to send along.",
    },
    "timeout": {"type": "string", "description": "How long it may take, such as 20s."},
    "ok": {
        "type": "array",
        "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "description": "Statuses that count as success, such as 2xx or 404.",
    },
}
HTTP: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "method": {"enum": list(METHODS), "default": "GET"},
        **_PASSED_ON,
        "body": {"description": "Text as it is, anything else as JSON."},
        "redirects": {
            "type": "integer",
            "minimum": 0,
            "maximum": MOST_REDIRECTS,
            "default": 0,
            "description": "How many redirects to follow.",
        },
        "max_body": {
            "type": "integer",
            "minimum": 0,
            "maximum": MOST_READ,
            "description": "How many bytes of the answer to read.",
        },
    },
    "required": ["url"],
    "additionalProperties": False,
}
WEBHOOK: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "webhook": {"type": "string", "description": "Whose secret signs it, by its name."},
        **_PASSED_ON,
        "type": {"type": "string", "description": "What happened, such as invoice.paid."},
        "data": {"description": "What there is to tell of it."},
        "body": {"description": "Instead of type and data: what is sent, as it is."},
    },
    "required": ["webhook", "url"],
    "additionalProperties": False,
}
