"""Describes kinds of jobs: which workers execute them and what their payloads look like.

A worker describes its kinds when it starts; the description stays when the worker is gone. names.py
interns the ids of kinds.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from rota.core.kind_descriptions import TaskDescription
from rota.store.driver import Connection
from rota.store.statement import statement


class DescribedKind(NamedTuple):
    id: int


class KindName(NamedTuple):
    name: str


class KindRow(NamedTuple):
    """`workers` counts live workers that execute it; `payload_schema` is JSON Schema as text."""

    name: str
    workers: int
    payload_schema: str | None


DESCRIBE = statement("kinds/describe", DescribedKind)
DESCRIBE_TASKS = statement("kinds/describe_tasks", DescribedKind)
DESCRIBE_EXACTLY_ONCE = statement("kinds/describe_exactly_once", DescribedKind)
NAME_OF = statement("kinds/read_name", KindName)
WITHOUT_EXACTLY_ONCE = statement("kinds/without_exactly_once", KindName)
LIST_KINDS = statement("kinds/list", KindRow)


async def describe_schemas(conn: Connection, schemas: Mapping[str, Mapping[str, Any]]) -> int:
    """Store the schemas of payloads; return how many were new."""
    described = [(kind, json.dumps(_in_order(body))) for kind, body in sorted(schemas.items())]
    if not described:
        return 0
    kinds, bodies = zip(*described, strict=True)
    return len(await DESCRIBE.all(conn, kinds=kinds, bodies=bodies))


async def describe_tasks(conn: Connection, tasks: Mapping[str, TaskDescription]) -> int:
    """Store a worker's descriptions of its tasks; return how many rows changed."""
    if not tasks:
        return 0
    names = sorted(tasks)
    policies = [tasks[name].default_policy for name in names]
    changed = await DESCRIBE_TASKS.all(
        conn,
        kinds=names,
        descriptions=[tasks[name].text for name in names],
        policies=[json.dumps(policy) if policy else None for policy in policies],
    )
    return len(changed)


async def describe_exactly_once(conn: Connection, capable: Mapping[str, bool]) -> int:
    """Store which kinds support exactly-once; return how many were new."""
    if not capable:
        return 0
    names = sorted(capable)
    rows = await DESCRIBE_EXACTLY_ONCE.all(
        conn, kinds=names, capable=[capable[name] for name in names]
    )
    return len(rows)


async def read_name(conn: Connection, kind_id: int) -> str | None:
    row = await NAME_OF.one(conn, kind_id=kind_id)
    return None if row is None else row.name


async def find_without_exactly_once(conn: Connection, names: Collection[str]) -> set[str]:
    """Return the kinds that do not support exactly-once, according to a worker."""
    return {row.name for row in await WITHOUT_EXACTLY_ONCE.all(conn, kinds=sorted(names))}


def _in_order(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Add the order of the fields, which neither the database nor our JSON keeps."""
    return {**schema, "x-order": list(schema.get("properties", ()))}


async def list_kinds(conn: Connection, *, limit: int = 1000) -> list[KindRow]:
    return await LIST_KINDS.all(conn, most=limit)
