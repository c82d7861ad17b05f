"""Reading and writing of files: CSV tables, atomic writes, names and suffixes."""
