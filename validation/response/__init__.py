"""Mean windows on a network beside published response functions: see `__main__.py`."""
