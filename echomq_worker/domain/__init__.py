"""What the queue means: plain values and decisions, without I/O, clock or dice."""
