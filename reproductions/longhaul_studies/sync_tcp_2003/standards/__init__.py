"""Appendix B: loss recovery and queue management of the standards."""
