"""A small app of a user, for tests that serve one."""

import rota

app = rota.App("greetings")


@app.job()
async def greet(name: str) -> str:
    return f"hello {name}"
