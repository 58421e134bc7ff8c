"""The traceback of a handler's exception, as text for its log. Room: flow/execute.

The usual formatter marks columns, for which Python 3.11 parses source lines; its parser is not safe
in two threads at once and then raises SystemError. We need no marks, and must not fail here.
"""

import traceback
from typing import Final

FRAMES: Final = 30
CAUSES: Final = 5
CAUSED: Final = "\nThe above was the cause of:\n\n"


def told(error: BaseException) -> str:
    """The error with its frames, after those that caused it."""
    chain: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and len(chain) < CAUSES and each not in chain:
        chain.append(each)
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
    return CAUSED.join(_one(each) for each in reversed(chain))


def _one(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__, limit=-FRAMES)
    # Without columns: a summary made from a list has none.
    plain = [(f.filename, f.lineno or 0, f.name, f.line) for f in frames]
    lines = traceback.StackSummary.from_list(plain).format()
    said = "".join(traceback.format_exception_only(error))
    return f"Traceback (most recent call last):\n{''.join(lines)}{said}"
