"""Evaluation of Sync-TCP (Weigle, dissertation, UNC 2003)."""
