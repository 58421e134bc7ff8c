"""Defines the login of the embedded server and its superuser.

Rota's processes log in as `rota`, which owns the databases and is not a superuser: with SQL it can
neither run programs nor read files of the machine. The superuser that initdb creates cannot log in.
Only the server monitor uses it, without a server, in single-user mode (cluster.py): to set up a
cluster, to renew a lost password, and to replace the login of an earlier release, which was the
superuser.

A home for tests (`durable=False`) keeps a superuser login: tests create roles and change settings.
"""

from importlib.resources import files
from typing import Final

ROLE: Final = "rota"
DATABASE: Final = "rota"
SUPERUSER: Final = "rota_superuser"
# In data/, so that a copy of the cluster contains it too.
LOGIN_MARKER_FILE: Final = "rota-login-is-no-superuser"


def new_cluster_statements(password: str) -> tuple[str, ...]:
    """Return the statements that set up a new cluster; they work in any of its databases."""
    return (
        # A second database would mean three hundred more files to create and to vacuum.
        f"alter database postgres rename to {DATABASE}",
        read_block("make_login", password=password),
        f"alter database {DATABASE} owner to {ROLE}",
    )


def read_block(name: str, *, password: str = "") -> str:
    """Read a block as one line: the single-user mode takes one statement per line."""
    text = files(__package__).joinpath("sql", f"{name}.sql").read_text("utf-8")
    lines = [line.strip() for line in text.splitlines() if not line.lstrip().startswith("--")]
    return " ".join(lines).removesuffix(";").replace("{password}", password)
