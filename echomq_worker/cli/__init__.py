"""The command line: a command parses, asks, prints. One noun a file."""
