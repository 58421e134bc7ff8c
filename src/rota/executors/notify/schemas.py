"""The payload of a message as JSON Schema, for forms. Room: executors/notify.

Only a description: what is refused is said in spec.py.
"""

from typing import Any, Final

from rota.executors.notify.spec import ESCAPES, LEVELS, LONGEST_TITLE

NOTIFY: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "channel": {
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
            "description": "Where to send it: names of channels of the worker.",
        },
        "title": {
            "type": "string",
            "maxLength": LONGEST_TITLE,
            "description": "{name} stands for a value.",
        },
        "body": {"type": "string", "description": "{name} stands for a value."},
        "values": {"type": "object", "description": "What to fill in."},
        "format": {"enum": list(ESCAPES), "default": "text"},
        "level": {"enum": list(LEVELS), "default": "info"},
        "to": {
            "type": "array",
            "items": {"type": "string", "format": "email"},
            "description": "Recipients, for channels that send mail.",
        },
    },
    "required": ["channel", "body"],
    "additionalProperties": False,
}
