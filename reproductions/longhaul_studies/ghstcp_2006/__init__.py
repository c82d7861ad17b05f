"""Gentle HighSpeed TCP, gentle Adaptive RED and parallel TCP (Osaka University, 2006)."""
