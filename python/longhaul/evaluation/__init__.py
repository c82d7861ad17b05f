"""Evaluation of an algorithm or a queue discipline in the scenarios of a suite.

Verdicts compare it with algorithms or disciplines that are in use. A suite is a directory with
`experiments.toml`, as in studies, and `criteria.toml`.
"""
