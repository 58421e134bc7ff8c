"""Defines the payload of a job of kind `notify`.

{"channel": ["ops", "oncall"], "title": "Backup of {database}", "body": "{rows} rows",
 "values": {"database": "shop", "rows": 7}, "format": "text", "level": "success",
 "to": ["ada@example.org"]}
"""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from rota.contract.documents import ALLOWED_KEY

CHANNELS_MAX: Final = 16
VALUES_MAX: Final = 100
RECIPIENTS_MAX: Final = 100
TITLE_CHARACTERS_MAX: Final = 250

Value = Annotated[
    str | int | float | bool | None,
    Meta(extra={ALLOWED_KEY: "text, a number, true, false or null"}),
]


class NotifyPayload(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    channel: Annotated[
        str | Annotated[list[str], Meta(min_length=1, max_length=CHANNELS_MAX)],
        Meta(
            description="Channel of the worker to send to, or a list of channels.",
            extra={ALLOWED_KEY: f"the name of a channel, or a list of 1 to {CHANNELS_MAX}"},
        ),
    ]
    title: Annotated[
        str,
        Meta(
            description=(
                "Title or subject, as plain text; {name} is replaced by a value. Default: no title."
            ),
            # The bound applies to the title with its values filled in.
            extra_json_schema={"maxLength": TITLE_CHARACTERS_MAX},
        ),
    ] = ""
    body: Annotated[
        str, Meta(min_length=1, description="Text of the message; {name} is replaced by a value.")
    ]
    values: Annotated[
        dict[str, Value],
        Meta(
            max_length=VALUES_MAX,
            description=(
                "Values for the {name} placeholders in title and body. "
                "Default: only run_id, job_id, attempt and scheduled_at."
            ),
        ),
    ] = {}
    format: Annotated[
        Literal["text", "markdown", "html"],
        Meta(description="Format of the body; values are escaped for it. Default: text."),
    ] = "text"
    level: Annotated[
        Literal["info", "success", "warning", "failure"],
        Meta(description="Severity that the channel shows. Default: info."),
    ] = "info"
    to: Annotated[
        str | Annotated[list[str], Meta(min_length=1, max_length=RECIPIENTS_MAX)] | None,
        Meta(
            description="E-mail addresses, for mail channels. Default: the channel's recipients.",
            extra={
                ALLOWED_KEY: "an e-mail address, or a list of "
                f"1 to {RECIPIENTS_MAX} e-mail addresses"
            },
        ),
    ] = None
