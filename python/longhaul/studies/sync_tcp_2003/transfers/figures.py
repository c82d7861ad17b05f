"""Figures of long transfers."""

from longhaul.studies.drawing import Figure

TRANSFERS: list[Figure] = []
