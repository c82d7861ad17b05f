"""Material for beginners: example scenarios, the demonstration, and lists of names."""
