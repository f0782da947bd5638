"""Measurements of a real worker on an embedded server.

`python -m bench` takes all of them; `python -m bench.pickup` (or `lateness`, `time`, `drain`,
`startup`, `idle`) one. Each starts a server and daemon processes of its own and prints a small
table. Speed depends on the machine, so nothing here is a test.
"""
