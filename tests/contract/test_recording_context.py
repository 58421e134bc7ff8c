"""The context for tests behaves as a worker's does (I3)."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from rota.core.executor import AttemptContext, Stream
from rota.sdk.testing import RecordingContext
from rota.sdk.testing.context import OUTPUT_BYTES_MAX


def test_it_is_a_context() -> None:
    context: AttemptContext = RecordingContext()

    assert (context.attempt, context.cancelled) == (1, False)


def test_output_is_kept_by_stream_and_cut_when_there_is_too_much() -> None:
    context = RecordingContext()

    context.write(Stream.STDOUT, b"x" * (OUTPUT_BYTES_MAX + 1))
    context.write(Stream.STDERR, b"oh")

    assert context.output_of(Stream.STDERR).text == "oh"
    assert not context.output_of(Stream.STDERR).is_truncated
    assert context.output_of(Stream.STDOUT).is_truncated
    assert len(context.output_of(Stream.STDOUT).content) == OUTPUT_BYTES_MAX


def test_threads_may_write_at_the_same_time() -> None:
    context = RecordingContext()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: context.write(Stream.RECORD, b"line\n"), range(2000)))

    assert context.output_of(Stream.RECORD).text == "line\n" * 2000


async def test_the_next_attempt_resumes_from_a_copy_of_the_checkpoint() -> None:
    first, place = RecordingContext(), {"row": 7}
    await first.checkpoint(place)
    place["row"] = 8

    second = RecordingContext(attempt=2, stored_checkpoint=first.stored_checkpoint)

    assert await second.resume() == {"row": 7}
    assert await RecordingContext().resume() is None


async def test_what_could_not_be_stored_is_refused() -> None:
    context = RecordingContext()

    with pytest.raises(TypeError):
        await context.checkpoint(object())
    with pytest.raises(ValueError, match="from 0 to 1"):
        context.progress(1.5)
    with pytest.raises(NotImplementedError):
        context.transaction()
