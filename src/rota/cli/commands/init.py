"""`rota init`: creates a small project that is ready to run."""

import re
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Final

from rota.cli.output import print_message
from rota.core.errors import InvalidInput

# Files of the project, and their templates.
PROJECT_FILES: Final = {
    "jobs.py": "jobs.py.template",
    "send.py": "send.py.template",
    "test_jobs.py": "test_jobs.py.template",
    "README.md": "README.md.template",
    ".gitignore": "gitignore.template",
}
APP_NAME_PATTERN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}", re.ASCII)


def init(folder: Path = Path(), *, name: str | None = None) -> int:
    """Create a small project: jobs, a program that submits one, and tests.

    Parameters
    ----------
    folder
        Folder of the project; existing files are not overwritten. Default: the current folder.
    name
        Name of the app, the first part of its kinds. Default: the name of the folder.
    """
    name = choose_app_name(folder, name)
    taken = [each for each in PROJECT_FILES if (folder / each).exists()]
    if taken:
        wanted = f"it already contains {', '.join(taken)}; choose another folder"
        raise InvalidInput("folder", str(folder), wanted)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for target, text in render_files(name).items():
            (folder / target).write_text(text)
    except OSError as error:
        wanted = f"cannot write to the folder: {error.strerror or error}"
        raise InvalidInput("folder", str(folder), wanted) from None
    here = "" if folder == Path() else f"cd {folder} && "
    print_message(
        f"Created {', '.join(PROJECT_FILES)}; start the project with: {here}rota up jobs:app"
    )
    return 0


def render_files(name: str) -> dict[str, str]:
    """Return the text of each file."""
    templates = files("rota.cli") / "project"
    return {
        target: Template((templates / source).read_text()).safe_substitute(name=name)
        for target, source in PROJECT_FILES.items()
    }


def choose_app_name(folder: Path, name: str | None) -> str:
    if name is None:
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", folder.resolve().name).strip("-_0123456789")
        name = name[:40] or "jobs"
    if APP_NAME_PATTERN.fullmatch(name) is None:
        raise InvalidInput(
            "--name", name, "expected a letter, then up to 39 letters, digits, - or _"
        )
    return name
