//! Result tables, packet captures and run.json.
