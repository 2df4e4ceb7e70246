"""From a recursion to this robot's equations: symbols, source, machine code, C.

``functions.py`` is the one table of what can be asked of a robot; ``symbols.py`` traces the
recursions, ``source.py`` prints the equations in each language, ``llvm`` compiles them, ``c``
writes a C project, ``cache.py`` keeps what was compiled.

Begin with ``functions.py``, then ``evaluator.py``: from the name of a function to something that
is called. :class:`ne_dynamics.Dynamics` is what others use of it.
"""
