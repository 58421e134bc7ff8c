"""The payloads of SQL and ETL jobs as JSON Schema, for forms. Room: executors/sql.

Only a description: what is refused is said in spec.py and etl/spec.py.
"""

from typing import Any, Final

from rota.executors.sql.spec import MOST_ROWS, RESULTS, USUAL_ROWS

SQL: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "connection": {"type": "string", "description": "A connection of the worker, by its name."},
        "query": {"type": "string", "description": "One statement; :name stands for a parameter."},
        "parameters": {
            "anyOf": [{"type": "object"}, {"type": "array"}],
            "description": "Values for the query.",
        },
        "statements": {
            "type": "array",
            "items": {"anyOf": [{"type": "string"}, {"type": "object"}]},
            "description": "Instead of a query: several, in one transaction.",
        },
        "timeout": {"type": "string", "description": "How long it may take, such as 30s."},
        "result": {"enum": list(RESULTS), "default": "rows"},
        "file": {"type": "object", "description": "Where to write rows that are kept as a file."},
        "max_rows": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_ROWS,
            "default": USUAL_ROWS,
            "description": "How many rows to keep.",
        },
        "read_only": {"type": "boolean", "description": "Refuse to change anything."},
    },
    "required": ["connection"],
    "additionalProperties": False,
}
ETL: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "extract": {
            "type": "array",
            "items": {"type": "object"},
            "description": "What to read: tables by queries, and files, each with a name.",
        },
        "transform": {
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "object"}}],
            "description": "A query over what was read, or a list of named steps.",
        },
        "load": {"type": "object", "description": "Where to write it, and how."},
        "chunk_rows": {"type": "integer", "minimum": 1, "description": "Rows in one write."},
        "timeout": {"type": "string", "description": "How long it may take, such as 30m."},
    },
    "required": ["extract", "load"],
    "additionalProperties": False,
}
