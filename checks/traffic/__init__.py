"""What the package sends to a server, counted for fixed scenarios and compared with a baseline.

Counts do not depend on the machine; times do, so they are told but never compared.
"""
