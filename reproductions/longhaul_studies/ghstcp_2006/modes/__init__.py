"""Sections 4.2.1 and 4.2.2: gHSTCP's mode (gentle or fast growth) at each acknowledgement."""
