"""Transfers without losses, as on the very fast paths of chapters 8 and 9."""
