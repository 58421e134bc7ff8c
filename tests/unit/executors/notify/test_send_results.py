"""What is made of the words of apprise: codes are found, secrets are not passed on (E17)."""

import logging

import pytest

from rota.executors.notify.send_result import capture_logger, classify_records


@pytest.mark.parametrize(
    ("heard", "type_", "final"),
    [
        (["Failed to send JSON POST notification: Page not found., error=404."], "http 404", True),
        (["Failed to send Slack notification: error=429."], "http 429", False),
        (["Failed to send Telegram notification: error=503."], "http 503", False),
        (["Socket Exception: (535, b'5.7.8 authentication failed')"], "login refused", True),
        (
            ["Socket Exception: {'a@b.c': (550, b'no such user')}", 'Sending email to "a" failed.'],
            "smtp 550",
            True,
        ),
        (["SMTP recipient a@b.c was refused: 452 b'full'", "Sending failed"], "smtp 452", False),
        (
            ['Connection error while submitting email to "x"', "Socket Exception: timed out"],
            "timeout",
            False,
        ),
        (["Socket Exception: [Errno 111] Connection refused"], "network", False),
        (["Socket Exception: [Errno -2] Name or service not known"], "name not resolved", False),
        (["Socket Exception: [SSL: CERTIFICATE_VERIFY_FAILED] self-signed"], "tls", False),
        (["Something nobody foresaw"], "not sent", False),
        ([], "not sent", False),
    ],
)
def test_the_reason_is_found_and_says_whether_to_try_again(
    heard: list[str], type_: str, final: bool
) -> None:
    verdict = classify_records(heard)

    assert (verdict.type, verdict.final, verdict.is_sent) == (type_, final, False)
    assert verdict.message


def test_the_words_themselves_are_never_passed_on() -> None:
    verdict = classify_records(
        ["Socket Exception: Max retries exceeded with url: /services/T0/B0/hunter2"]
    )

    assert "hunter2" not in repr(verdict)


def test_who_listens_hears_causes_and_nobody_else_hears_more_than_before(
    caplog: pytest.LogCaptureFixture,
) -> None:
    logger = logging.getLogger("tests.of.verdicts")
    usual = logger.getEffectiveLevel()
    ear = capture_logger(logger.name)

    with ear.capture() as heard:
        logger.debug("JSON Payload: error=404 hunter2")
        logger.debug("Socket Exception: timed out")
        logger.warning("it failed")
    logger.debug("not for anybody")
    logger.log(usual, "as before")

    assert heard == ["Socket Exception: timed out", "it failed"]
    assert [record.getMessage() for record in caplog.records] == ["as before"]
    assert capture_logger(logger.name) is ear
