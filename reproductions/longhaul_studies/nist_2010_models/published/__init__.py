"""Tables A-1 to A-3 and B-6, as printed in NIST SP 500-282."""
