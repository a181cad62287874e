"""Who writes, reads and judges."""
