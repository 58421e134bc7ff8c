"""One job in the three ways in which Python runs jobs: on the loop, in a thread, in a process."""

import asyncio
import threading

import rota

on_loop = rota.App("on-loop")
in_thread = rota.App("in-thread")
in_child = rota.App("in-child")


@on_loop.job()
async def speak(say: str = "", fail: bool = False, seconds: float = 0) -> str:
    await asyncio.sleep(seconds)  # noqa: TID251 — a handler is user code
    return said(say, fail=fail)


@in_thread.job()
def speak_in_thread(
    ctx: rota.SyncContext, say: str = "", fail: bool = False, seconds: float = 0
) -> str:
    for _ in range(round(seconds * 20)):
        threading.Event().wait(0.05)
        ctx.progress(0.5)
    return said(say, fail=fail)


@in_child.job(isolation="process")
def speak_in_child(say: str = "", fail: bool = False, seconds: float = 0) -> str:
    threading.Event().wait(seconds)
    return said(say, fail=fail)


def said(word: str, *, fail: bool) -> str:
    if fail:
        raise rota.Fail("broken")
    print(word)  # noqa: T201 — its output is looked at
    return word
