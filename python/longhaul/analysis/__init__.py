"""Statistics on tables of results, for studies and campaigns."""
