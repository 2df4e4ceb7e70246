"""Measurements side by side: this package and others, in one run, interleaved."""
