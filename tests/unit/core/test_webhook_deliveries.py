"""When a delivery is tried again, and when an endpoint counts as failing (I7)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from rota.core.outgoing_http import PostError, PostResponse
from rota.core.webhook_deliveries import (
    ATTEMPT_TIMEOUT,
    CONCURRENCY_MAX,
    DELIVERY_LEASE,
    DISABLE_AFTER,
    DISABLE_FAILURES_MIN,
    FAILING_AFTER,
    PROBE_WAIT_MAX,
    RETRY_WAITS,
    DisabledReason,
    EndpointHealth,
    EndpointNews,
    compute_retry_wait,
    describe_failure,
    record_endpoint_failure,
    record_endpoint_success,
)

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
RNG = Random(1)
DOWN = PostResponse(status=500)


def test_the_schedule_is_that_of_standard_webhooks() -> None:
    waits = [compute_retry_wait(DOWN, retries=n, rng=RNG) for n in range(len(RETRY_WAITS) + 1)]

    assert waits[-1] is None, "the tenth attempt was the last"
    for wait, wanted in zip(waits[:-1], RETRY_WAITS, strict=True):
        assert wait is not None
        assert 0.9 * wanted <= wait <= 1.1 * wanted
    assert timedelta(hours=75) < sum(RETRY_WAITS, timedelta()) < timedelta(hours=76)


@pytest.mark.parametrize(
    ("asked", "wait"),
    [
        (timedelta(hours=2), timedelta(hours=2)),
        (timedelta(days=30), timedelta(hours=24)),
    ],
)
def test_retry_after_makes_a_wait_longer_up_to_a_day(asked: timedelta, wait: timedelta) -> None:
    response = PostResponse(status=429, retry_after=asked)

    assert compute_retry_wait(response, retries=0, rng=RNG) == wait


def test_retry_after_never_makes_a_wait_shorter() -> None:
    response = PostResponse(status=429, retry_after=timedelta(0))
    wait = compute_retry_wait(response, retries=3, rng=RNG)

    assert wait is not None
    assert wait > timedelta(hours=1)


def test_a_healthy_endpoint_notes_a_success_once_a_minute() -> None:
    health = EndpointHealth(last_success_at=NOW)

    assert record_endpoint_success(health, now=NOW + timedelta(seconds=59)) is None
    change = record_endpoint_success(health, now=NOW + timedelta(seconds=61))
    assert change is not None
    assert change.news is None


def test_an_endpoint_fails_is_probed_less_and_less_often_and_recovers() -> None:
    health, news = EndpointHealth(), []
    for number in range(1, 16):
        change = record_endpoint_failure(health, DOWN, now=NOW, rng=RNG)
        news.append(change.news)
        health = change.health
        assert (health.probe_at is not None) is (number >= FAILING_AFTER)
    assert [each for each in news if each] == [EndpointNews.FAILING]
    assert health.probe_at is not None
    assert health.probe_at - NOW <= PROBE_WAIT_MAX * 1.1

    recovered = record_endpoint_success(health, now=NOW)
    assert recovered is not None
    assert recovered.news is EndpointNews.RECOVERED
    assert (recovered.health.failures, recovered.health.failing_since) == (0, None)


@pytest.mark.parametrize(
    ("failures", "lasting", "reason"),
    [
        (DISABLE_FAILURES_MIN - 1, DISABLE_AFTER, DisabledReason.FAILING),
        (DISABLE_FAILURES_MIN - 2, DISABLE_AFTER * 2, None),
        (500, DISABLE_AFTER - timedelta(seconds=1), None),
    ],
)
def test_an_endpoint_is_disabled_after_days_and_many_failures(
    failures: int, lasting: timedelta, reason: DisabledReason | None
) -> None:
    health = EndpointHealth(failures=failures, failing_since=NOW - lasting)

    change = record_endpoint_failure(health, DOWN, now=NOW, rng=RNG)

    assert change.health.disabled_reason is reason
    assert (change.news is EndpointNews.DISABLED) is (reason is not None)


def test_an_endpoint_that_is_gone_is_disabled_at_once_and_told_once() -> None:
    gone = PostResponse(status=410)
    first = record_endpoint_failure(EndpointHealth(), gone, now=NOW, rng=RNG)
    second = record_endpoint_failure(first.health, gone, now=NOW, rng=RNG)

    assert (first.health.disabled_reason, first.news) == (
        DisabledReason.GONE,
        EndpointNews.DISABLED,
    )
    assert second.news is None


def test_an_overloaded_endpoint_gets_fewer_at_a_time_and_recovers_one_by_one() -> None:
    health = EndpointHealth(last_success_at=NOW)
    for status, wanted in ((429, 5), (502, 2), (504, 1), (429, 1), (500, 1)):
        response = PostResponse(status=status)
        health = record_endpoint_failure(health, response, now=NOW, rng=RNG).health
        assert health.concurrency == wanted
    for wanted in range(2, CONCURRENCY_MAX + 1):
        change = record_endpoint_success(health, now=NOW)
        assert change is not None
        health = change.health
        assert health.concurrency == wanted
    assert record_endpoint_success(health, now=NOW) is None
    assert record_endpoint_success(replace(health, failures=1), now=NOW) is not None


@pytest.mark.parametrize(
    ("response", "text"),
    [
        (PostResponse(status=503), "answered 503"),
        (PostResponse(status=302), "answered 302; redirects are not followed, change the URL"),
        (PostResponse(error=PostError.TLS, message="bad"), "tls: bad"),
        (PostResponse(error=PostError.TIMEOUT), "timeout"),
        (PostResponse(message="rotate"), "failed: rotate"),
    ],
)
def test_a_failure_is_described_in_one_sentence(response: PostResponse, text: str) -> None:
    assert describe_failure(response) == text


def test_a_lease_is_longer_than_an_attempt_and_its_recording() -> None:
    assert DELIVERY_LEASE >= 2 * ATTEMPT_TIMEOUT
