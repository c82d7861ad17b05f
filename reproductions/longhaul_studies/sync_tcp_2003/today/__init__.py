"""Today's protocols under the dissertation's loads, in addition to the dissertation."""
