"""What a docstring says about a task."""

from rota.core.kind_descriptions import DESCRIPTION_LENGTH_MAX, summarize_docstring


def test_the_first_paragraph_is_one_line() -> None:
    docstring = """Charge a customer's card
        and send the receipt.

        The card is charged once.
        """

    assert summarize_docstring(docstring) == "Charge a customer's card and send the receipt."


def test_no_text_is_no_description() -> None:
    assert [summarize_docstring(each) for each in (None, "", " \n\n ")] == [None, None, None]


def test_a_long_paragraph_is_cut() -> None:
    text = summarize_docstring("word " * 1000)

    assert text is not None
    assert len(text) == DESCRIPTION_LENGTH_MAX
    assert text.endswith("…")
