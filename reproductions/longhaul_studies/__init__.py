"""Published evaluations as studies for Longhaul, each in a folder of its own.

`longhaul study list` shows them where this distribution is installed.
"""
