"""Material for a beginner: example scenarios, the demonstration, and lists of what exists."""
