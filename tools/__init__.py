"""What the project makes besides the package: its site."""
