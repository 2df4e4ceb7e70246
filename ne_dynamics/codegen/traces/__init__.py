"""How each function of the table is traced, by parts that are loaded when they are asked for.

A tracer takes the subject, the link that is meant, and words of its row, as the names of loads. It
returns a function of lists of scalars, one list for each argument of its row in
:mod:`ne_dynamics.codegen.functions`, which computes the row's result as nested lists. ``trace.py``
has the types, and how a row names its tracer.
"""
