"""Tables of the source."""
