"""The tests of C4, Christian's Congestion Control Code (draft-huitema-ccwg-c4-test, 2026)."""
