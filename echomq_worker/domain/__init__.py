"""What the queue means, in plain Python: no I/O, no clock, no dice."""
