"""What must hold whatever comes: mutated scenarios, kills at any moment."""
