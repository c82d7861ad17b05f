"""Chapter 4, appendices C and D: which parameters of MesoNet matter."""
