"""The login of the embedded server, and its superuser. Room: store/embedded.

Processes of Rota log in as `rota`, which owns the databases and is no superuser: by SQL it can
neither run programs nor read files of the machine. The superuser that initdb makes cannot log in.
Only the keeper is it, without a server, in single-user mode (cluster.py): to set a cluster up, to
renew a lost password, and to replace the login of an earlier release, which was the superuser.

A home for tests (`durable=False`) keeps that one login: tests make roles and change settings.
"""

from importlib.resources import files
from typing import Final

ROLE: Final = "rota"
DATABASE: Final = "rota"
SUPERUSER: Final = "rota_superuser"
# In data/, so that a copy of the cluster has it, too.
MARKER: Final = "rota-login-is-no-superuser"


def statements_of_new(password: str) -> tuple[str, ...]:
    """What makes a new cluster Rota's; in any of its databases."""
    return (
        # A second database would be three hundred more files to make, and one more to vacuum.
        f"alter database postgres rename to {DATABASE}",
        read_block("make_login", password=password),
        f"alter database {DATABASE} owner to {ROLE}",
    )


def read_block(name: str, *, password: str = "") -> str:
    """Read a block in one line: the single-user mode takes one statement a line."""
    text = files(__package__).joinpath("sql", f"{name}.sql").read_text("utf-8")
    lines = [line.strip() for line in text.splitlines() if not line.lstrip().startswith("--")]
    return " ".join(lines).removesuffix(";").replace("{password}", password)
