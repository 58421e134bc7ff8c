"""Kinds of jobs as people see them: who carries them out, what their payloads look like. Room:
store.

A worker tells when it starts; what it told stays when it is gone. The ids of kinds are names.py's.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from rota.store.driver import Connection
from rota.store.statement import statement


class Described(NamedTuple):
    id: int


class KindRow(NamedTuple):
    """`workers` are those alive that carry it out; `payload_schema` is JSON Schema as text."""

    name: str
    workers: int
    payload_schema: str | None


DESCRIBE = statement("kinds/describe", Described)
LISTED = statement("kinds/listed", KindRow)


async def describe(conn: Connection, schemas: Mapping[str, Mapping[str, Any]]) -> int:
    """Keep the schemas of payloads; return how many were new."""
    told = [(kind, json.dumps(_in_order(body))) for kind, body in sorted(schemas.items())]
    if not told:
        return 0
    kinds, bodies = zip(*told, strict=True)
    return len(await DESCRIBE.all(conn, kinds=kinds, bodies=bodies))


def _in_order(schema: Mapping[str, Any]) -> dict[str, Any]:
    """With the order of its fields, which neither the database nor our JSON keeps."""
    return {**schema, "x-order": list(schema.get("properties", ()))}


async def listed(conn: Connection, *, limit: int = 1000) -> list[KindRow]:
    return await LISTED.all(conn, most=limit)
