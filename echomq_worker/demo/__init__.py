"""The demonstration: real jobs in a real worker index a folder, and the numbers are checked.

`jobs` is the application that the worker runs; the rest enqueues its jobs, watches, and adds up.
"""
