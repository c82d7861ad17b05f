"""Two senders over DualPI2, PIE and FQ-CoDel (De Schepper, Albisser, Tilmans and Briscoe, 2022)."""
