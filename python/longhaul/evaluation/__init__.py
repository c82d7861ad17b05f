"""Evaluation of an algorithm or queue discipline in the scenarios of a suite.

Verdicts compare it with algorithms or disciplines in use. A suite is a directory with
`experiments.toml`, as in studies, and `criteria.toml`.
"""
