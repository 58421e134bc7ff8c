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


@app.handler("fleet.obey")
async def obey(_context: object, payload: dict[str, bool]) -> None:
    if payload["fails"]:
        raise Fail("as told")
