"""Tools of the project outside the package: its site."""
