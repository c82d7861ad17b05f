"""Mutation testing: `make mutants` changes code at random and counts the detected changes.

A change is detected if a test fails. All drawn changes are in one copy of the source tree, each
behind a switch, so one build is enough (Untch, Offutt and Harrold, "Mutation analysis using mutant
schemata", ISSTA 1993).
"""
