"""Checks that traces are configured correctly and their collector is reachable."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Final

import urllib3
from urllib3.exceptions import HTTPError

from rota.cli.doctor.findings import DoctorFinding, bad, ok, warning
from rota.config.settings import TraceSettings
from rota.core.errors import InvalidSetting
from rota.engine.observability.tracing import OTLP_MEDIA_TYPE, build_collector_url
from rota.processes.traces import build_headers

CHECK: Final = "traces"
REQUEST_TIMEOUT_S: Final = 3.0
REMEDY: Final = "start the collector or correct traces.endpoint; until then spans are dropped"


def check_collector(
    settings: TraceSettings, environment: Mapping[str, str]
) -> Iterator[DoctorFinding]:
    """Check the collector. Yields nothing if traces are off."""
    if settings.endpoint is None:
        return
    if find_spec("opentelemetry") is None:
        yield bad(CHECK, "OpenTelemetry is not installed", "pip install 'rota[otel]'")
        return
    try:
        headers = build_headers(settings, environment)
    except InvalidSetting as error:
        yield bad(CHECK, str(error), "set it in the environment of the Rota processes")
        return
    yield check_endpoint(build_collector_url(settings.endpoint), headers)


def check_endpoint(url: str, headers: Mapping[str, str]) -> DoctorFinding:
    """Send an empty request: the protobuf message without spans has no bytes."""
    try:
        answer = urllib3.request(
            "POST",
            url,
            body=b"",
            headers={**headers, "Content-Type": OTLP_MEDIA_TYPE},
            retries=False,
            redirect=False,
            timeout=REQUEST_TIMEOUT_S,
        )
    except (HTTPError, OSError) as error:
        return warning(CHECK, f"no response from {url}: {type(error).__name__}", REMEDY)
    if answer.status in range(200, 300):
        return ok(CHECK, f"the collector at {url} accepts spans")
    return warning(CHECK, f"{url} returned HTTP {answer.status}", REMEDY)
