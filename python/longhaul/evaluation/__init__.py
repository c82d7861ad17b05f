"""Evaluation of any algorithm: scenarios that a suite declares, verdicts against algorithms in use.

A suite is a folder: `experiments.toml` as in studies, and `criteria.toml`.
"""
