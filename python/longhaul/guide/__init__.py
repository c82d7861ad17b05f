"""What a user begins with: example scenarios, the demonstration, lists of what there is."""
