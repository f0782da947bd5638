"""What the project holds itself to, checked by machine: `python -m checks`.

Each module here is one check (or a family of them): a function of the project's folder that returns
what is wrong, one text for each finding, and nothing if all is well.
"""
