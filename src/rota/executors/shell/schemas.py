"""The payload of a shell job as JSON Schema, for forms. Room: executors/shell.

Only a description: what is refused is said in spec.py.
"""

from typing import Any, Final

from rota.executors.shell.spec import HIGHEST_CODE, MOST_ARGUMENTS

SHELL: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "argv": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "maxItems": MOST_ARGUMENTS,
            "description": "The program by its whole path, and its arguments; no shell reads them.",
        },
        "env": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "Variables of its environment, which is empty otherwise.",
        },
        "cwd": {"type": "string", "description": "The folder that it starts in."},
        "stdin": {"type": "string", "description": "What it reads."},
        "ok_codes": {
            "type": "array",
            "items": {"type": "integer", "minimum": 0, "maximum": HIGHEST_CODE},
            "default": [0],
            "description": "Exit codes that count as success.",
        },
    },
    "required": ["argv"],
    "additionalProperties": False,
}
