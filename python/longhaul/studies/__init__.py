"""Studies: published evaluations, simulated again and compared claim by claim.

A study is a directory with scenarios, `experiments.toml`, `claims.csv` or `claims.toml`, recorded
results, and optional modules with its own metrics and figures. Its README states the assumptions
that were made where the source gives no details.
"""
