"""Gentle HighSpeed TCP, gentle Adaptive RED and parallel TCP (doctoral thesis, Osaka University, 2006)."""
