"""Queue disciplines beside the kernel's own, packet for packet."""
