"""The kind of simulation `connections`: TCP or QUIC connections over links."""
