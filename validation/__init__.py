"""Longhaul compared with other simulators, published values, laws and itself."""
