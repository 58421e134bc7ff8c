"""What a page takes for granted: files that are there, and servers that run."""

from dataclasses import dataclass, field
from typing import Final

REPORTS: Final = """
import rota

app = rota.App("reports")


@app.job(kind="report")
async def report(ctx: rota.Context, month: str = "May") -> str:
    ctx.log.info("the report of %s", month)
    return month
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """`has_database` gives it a database in which Rota has its tables, and nothing else."""

    files: dict[str, str] = field(default_factory=dict)
    servers: tuple[str, ...] = ()
    has_database: bool = False


EMPTY: Final = Stage()
STAGES: Final = {
    "docs/howto/autoscaling.md": Stage(servers=("rota up",)),
    "docs/howto/client.md": Stage(files={"jobs.py": REPORTS}, servers=("rota up jobs:app",)),
    "docs/howto/proxies-and-probes.md": Stage(servers=("rota up",)),
    "docs/howto/submit-in-a-transaction.md": Stage(has_database=True),
}
