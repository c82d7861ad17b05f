"""Files: tables of rows read from CSV, and files that appear when they are complete."""
