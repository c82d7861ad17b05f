"""Flows that lose no packet, as files on the very fast paths of chapters 8 and 9."""
