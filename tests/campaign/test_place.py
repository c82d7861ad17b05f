"""Places of keys and values in campaign files, for messages."""

from longhaul.campaign.place import line_of_value


def test_a_line_is_that_of_the_quoted_value_or_else_of_the_key() -> None:
    """An array may span lines, and a value may be written otherwise than it is read."""
    text = 'title = "t"\nresponses = [\n  "goodput_bps",\n  \'jain\',\n]\nseed = 1\n'
    assert line_of_value(text, "responses", "goodput_bps") == 3
    assert line_of_value(text, "responses", "jain") == 4
    assert line_of_value(text, "responses", "loss") == 2
    assert line_of_value(text, "nothing", "loss") is None
