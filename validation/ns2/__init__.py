"""Comparison of Longhaul with ns-2 2.35 on the same cases."""
