//! The Python module longhaul._engine.
