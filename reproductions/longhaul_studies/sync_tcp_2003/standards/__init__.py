"""Appendix B: web traffic under standard loss recovery and queue management."""
