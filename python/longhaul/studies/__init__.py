"""Published evaluations, run again and judged claim by claim.

A study is a folder: scenarios, `experiments.toml`, `claims.csv`, its own metrics and figures,
results of the last recorded runs, and a README that says what the source leaves open and what was
chosen.
"""
