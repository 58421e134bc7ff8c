"""Handlers for a fleet that others watch."""

from rota.core.executor import Fail
from rota.executors.python import Handlers

app = Handlers()


@app.handler("fleet.echo")
async def echo(_context: object, payload: object) -> object:
    return payload


@app.handler("fleet.fail")
async def fail(_context: object, _payload: object) -> None:
    raise Fail("always")
