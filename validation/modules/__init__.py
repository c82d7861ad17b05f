"""The algorithms of the profile `linux` beside a kernel's modules, in the same simulations."""
