"""HighSpeed TCP and its deployment, as evaluated by E. de Souza (LBNL-52549, 2003)."""
