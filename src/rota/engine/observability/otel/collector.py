"""Sends one request to a collector, in OTLP over HTTP.

Rota does not use OpenTelemetry's exporter: that exporter reports lost spans to Python's logging,
which belongs to the handlers here, does not report how many were lost, and brings another HTTP
client.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import urllib3
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan
from urllib3.exceptions import HTTPError

from rota.engine.observability.tracing import OTLP_MEDIA_TYPE, build_collector_url

CONNECT_TIMEOUT_S: Final = 2.0
READ_TIMEOUT_S: Final = 5.0
# Statuses that OTLP defines as retryable; every other failure is permanent.
RETRYABLE_STATUSES: Final = frozenset({429, 502, 503, 504})


class CollectorResponse(NamedTuple):
    """`reason` is empty if the spans were accepted; `is_retryable` if a retry may help."""

    reason: str = ""
    is_retryable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Collector:
    url: str
    pool: urllib3.PoolManager
    headers: Mapping[str, str]

    @classmethod
    def for_endpoint(cls, endpoint: str, headers: Mapping[str, str]) -> "Collector":
        pool = urllib3.PoolManager(
            retries=False, timeout=urllib3.Timeout(connect=CONNECT_TIMEOUT_S, read=READ_TIMEOUT_S)
        )
        return cls(
            url=build_collector_url(endpoint),
            pool=pool,
            headers={**headers, "Content-Type": OTLP_MEDIA_TYPE},
        )

    def send(self, spans: Sequence[ReadableSpan]) -> CollectorResponse:
        try:
            body = encode_spans(spans).SerializeToString()
        except Exception as error:  # noqa: BLE001 — a handler's spans may hold anything
            return CollectorResponse(f"cannot encode spans: {type(error).__name__}")
        try:
            answer = self.pool.request(
                "POST", self.url, body=body, headers=self.headers, redirect=False
            )
        except (HTTPError, OSError) as error:
            return CollectorResponse(f"no response: {type(error).__name__}", is_retryable=True)
        if answer.status in range(200, 300):
            return CollectorResponse()
        return CollectorResponse(
            f"collector returned HTTP {answer.status}",
            is_retryable=answer.status in RETRYABLE_STATUSES,
        )

    def close(self) -> None:
        self.pool.clear()
