"""Plots of runs of MesoNet by name; each module registers its plots."""

from importlib import import_module

# Modules in the order in which lists show their plots.
for _subject in ("over_time", "goodput", "traces", "topology_map"):
    import_module(f"{__name__}.{_subject}")
