"""Published evaluations as studies for Longhaul, one per directory.

`longhaul study list` shows them where this distribution is installed.
"""
