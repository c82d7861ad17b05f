"""Mutation testing: `make mutants` changes code at random and counts the changes that tests notice.

All drawn changes are in one copy of the tree, each behind a switch, so that one build serves all
(Untch, Offutt and Harrold, "Mutation analysis using mutant schemata", ISSTA 1993).
"""
