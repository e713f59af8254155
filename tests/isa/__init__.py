"""Every instruction against AMD's pseudo-code."""
