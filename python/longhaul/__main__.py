"""`python -m longhaul` is `longhaul`."""

from longhaul.cli import app

app(prog_name="longhaul")
