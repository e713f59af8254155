"""What setup.py builds with: the search for tools, both builds, the PEP 517 backend."""
