"""Emulation: the network of a scenario between real programs, at the pace of the wall clock."""

from longhaul.emulation.execution import Emulation, Lateness, Program, emulate

__all__ = ["Emulation", "Lateness", "Program", "emulate"]
