"""Experiments beyond the dissertation (Weigle 2003): its loads with today's protocols."""
