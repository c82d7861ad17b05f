"""Models of congestion control without packets: closed forms, fluid models, a hybrid model."""
