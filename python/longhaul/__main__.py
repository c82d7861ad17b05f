"""`python -m longhaul` runs the command `longhaul`."""

from longhaul.cli import app

app(prog_name="longhaul")
