"""Reading and writing of files: CSV tables, atomic writes, file names and suffixes."""
