"""Studies: published evaluations, run again and judged claim by claim.

A study is a directory with scenarios, `experiments.toml`, `claims.csv`, its own metrics and
figures, recorded results, and a README on the choices made where the source is silent.
"""
