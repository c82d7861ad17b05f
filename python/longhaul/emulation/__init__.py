"""Emulation: real programs communicate over a scenario's network in real time."""

from longhaul.emulation.execution import Emulation, Lateness, Program, emulate

__all__ = ["Emulation", "Lateness", "Program", "emulate"]
