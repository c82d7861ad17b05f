"""Sections 4.2.1 and 4.2.2: the mode of gHSTCP at each acknowledgement."""
