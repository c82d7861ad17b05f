"""Published evaluations as studies for Longhaul, one per directory.

`longhaul study list` lists them if this distribution is installed.
"""
