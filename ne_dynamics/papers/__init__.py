"""The published forms of manipulator dynamics, what they cost, and what their documents report.

`forms` holds the forms, one a file; `counting` what an evaluation of one costs, measured and
printed; `studies` what ``ne_dynamics reproduce`` computes. Each imports only those before it.
"""
