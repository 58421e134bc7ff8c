"""Handlers in processes of their own that tell what they know of their trace."""

import os
from typing import Any

from opentelemetry import trace

from rota.core.executor import AttemptContext
from rota.executors.python import Handlers
from rota.executors.python.contexts import BlockingContext

handlers = Handlers()


def known(context: Any) -> list[str | None]:
    current = trace.get_current_span().get_span_context()
    ids = [f"{current.trace_id:032x}", f"{current.span_id:016x}"]
    return [context.traceparent, os.environ.get("TRACEPARENT"), *ids]


@handlers.handler("apart", isolation="process")
def apart(context: BlockingContext, _payload: Any) -> list[str | None]:
    return known(context)


@handlers.handler("apart and async", isolation="process")
async def apart_and_async(context: AttemptContext, _payload: Any) -> list[str | None]:
    return known(context)
