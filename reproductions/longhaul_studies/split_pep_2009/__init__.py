"""A split-connection performance enhancing proxy over a satellite link (Innsbruck, 2009)."""
