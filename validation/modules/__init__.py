"""The algorithms of the profile `linux` beside the modules of a kernel, run in the same simulations."""
