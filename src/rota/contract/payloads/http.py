"""Defines the payloads of jobs of kind `http` and `webhook`.

    {"method": "POST", "url": "https://example.org/hook", "headers": {"X-Team": "billing"},
     "body": {"id": 7}, "timeout": "20s", "redirects": 1, "ok": ["2xx", 404], "max_body": 65536}

    {"webhook": "partner", "url": "https://partner.example/hook", "type": "invoice.paid",
     "data": {"invoice": 7}, "headers": {"X-Team": "billing"}, "timeout": "20s", "ok": ["2xx"]}

`type` and `data` become the standard body of a webhook, `{"type": …, "timestamp": …, "data": …}`;
`body` is sent unchanged in place of it.
"""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from rota.contract.documents import ALLOWED_KEY
from rota.contract.payloads.reader import DURATION_META

URL_CHARACTERS_MAX: Final = 2048
HEADERS_MAX: Final = 32
STATUSES_MAX: Final = 64
REDIRECTS_MAX: Final = 3
RESPONSE_BYTES_MAX: Final = 10 * 1024 * 1024
WEBHOOK_TIMEOUT: Final = "20s"

Url = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=URL_CHARACTERS_MAX,
        description="URL of the request.",
        extra_json_schema={"format": "uri"},
        extra={
            ALLOWED_KEY: (
                "an http or https URL such as https://example.org/path, "
                f"of at most {URL_CHARACTERS_MAX} characters"
            )
        },
    ),
]
Headers = Annotated[
    dict[str, str],
    Meta(max_length=HEADERS_MAX, description="Headers of the request. Default: only Rota's own."),
]
Status = Annotated[
    Annotated[int, Meta(ge=100, le=599)] | Literal["1xx", "2xx", "3xx", "4xx", "5xx"],
    Meta(extra={ALLOWED_KEY: 'a status such as 204 or "2xx"'}),
]
Statuses = Annotated[
    tuple[Status, ...],
    Meta(
        min_length=1,
        max_length=STATUSES_MAX,
        description="Statuses that count as success, such as 2xx or 404. Default: 2xx.",
        extra={ALLOWED_KEY: f'a list of 1 to {STATUSES_MAX} statuses such as 204 or "2xx"'},
    ),
]
Body = str | dict[str, Any] | list[Any] | None


class HttpPayload(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    method: Annotated[
        Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
        Meta(description="Method of the request. Default: GET."),
    ] = "GET"
    url: Url
    headers: Headers = {}
    body: Annotated[
        Body,
        Meta(
            description="Body of the request: text is sent unchanged, an object or a list as JSON. "
            "Default: no body."
        ),
    ] = None
    timeout: Annotated[
        str | None,
        Meta(
            description="Time limit of the request, such as 20s. Default: the job's timeout.",
            extra=DURATION_META,
        ),
    ] = None
    ok: Statuses = ("2xx",)
    redirects: Annotated[
        int,
        Meta(ge=0, le=REDIRECTS_MAX, description="Maximum number of redirects. Default: 0."),
    ] = 0
    max_body: Annotated[
        int,
        Meta(
            ge=0,
            le=RESPONSE_BYTES_MAX,
            description="Maximum number of response bytes to read. Default: 10 MiB.",
        ),
    ] = RESPONSE_BYTES_MAX


class WebhookPayload(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    webhook: Annotated[
        str,
        Meta(description="Name of a webhook in the worker's settings; its secret signs the body."),
    ]
    url: Url
    type: Annotated[
        str | None,
        Meta(
            description="Event type, such as invoice.paid. Default: none; then `body` is required."
        ),
    ] = None
    data: Annotated[Any, Meta(description="Event data, any JSON. Default: null.")] = None
    body: Annotated[
        Body,
        Meta(
            description=(
                "Body of the request, in place of `type` and `data`: text is sent unchanged, an "
                "object or a list as JSON. Default: a body with `type` and `data`."
            )
        ),
    ] = None
    headers: Headers = {}
    timeout: Annotated[
        str,
        Meta(
            description=f"Time limit of the request. Default: {WEBHOOK_TIMEOUT}.",
            extra=DURATION_META,
        ),
    ] = WEBHOOK_TIMEOUT
    ok: Statuses = ("2xx",)
