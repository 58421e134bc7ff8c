"""The payload of a sync job as JSON Schema, for forms. Room: executors/sync.

Only a description: what is refused is said in spec.py.
"""

from typing import Any, Final

from rota.executors.sync.spec import MOST_DELETED, MOST_PARALLEL, USUAL_DELETED, USUAL_PARALLEL

_PATTERNS: Final[dict[str, Any]] = {"type": "array", "items": {"type": "string"}}
SYNC: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "from": {"type": "string", "description": "place:/folder, a place of the worker."},
        "to": {"type": "string", "description": "place:/folder, a place of the worker."},
        "mode": {
            "enum": ["copy", "mirror"],
            "default": "copy",
            "description": "A mirror also deletes what is not there any more.",
        },
        "compare": {"enum": ["size_time", "checksum"], "default": "size_time"},
        "include": {**_PATTERNS, "description": "Only files like these, such as **/*.jpg."},
        "exclude": {**_PATTERNS, "description": "No files like these."},
        "dry_run": {"type": "boolean", "default": False, "description": "Only tell."},
        "max_delete": {
            "type": "integer",
            "minimum": 0,
            "maximum": MOST_DELETED,
            "default": USUAL_DELETED,
            "description": "Refuse to delete more.",
        },
        "allow_empty": {
            "type": "boolean",
            "default": False,
            "description": "An empty source is meant so.",
        },
        "parallel": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_PARALLEL,
            "default": USUAL_PARALLEL,
        },
    },
    "required": ["from", "to"],
    "additionalProperties": False,
}
