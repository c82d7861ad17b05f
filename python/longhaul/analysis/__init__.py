"""Statistics on tables of results: what studies and campaigns say about many runs."""
