"""From a recursion to this robot's equations: symbols, source, machine code, C.

``functions.py`` is the one table of what can be asked of a robot; ``symbols.py`` traces the
recursions, ``source.py`` prints the equations in each language, ``llvm`` compiles them, ``c``
writes a C project, ``cache.py`` keeps what was compiled.

Begin with ``functions.py``, then ``evaluator.py``: from the name of a function to something that
is called. :class:`ne_dynamics.Dynamics` is what others use of it.
"""

from typing import TYPE_CHECKING

from ne_dynamics.loaded_later import load_later

if TYPE_CHECKING:
    from ne_dynamics.codegen.c.c_project import write_c_project
    from ne_dynamics.codegen.functions import FUNCTIONS, Function
    from ne_dynamics.codegen.program import Program, trace
    from ne_dynamics.codegen.source import standalone_source
    from ne_dynamics.codegen.symbols import OperationCount

__all__ = [
    'FUNCTIONS',
    'Function',
    'OperationCount',
    'Program',
    'standalone_source',
    'trace',
    'write_c_project',
]

__getattr__, __dir__ = load_later(
    __name__,
    {
        'FUNCTIONS': 'functions',
        'Function': 'functions',
        'OperationCount': 'symbols',
        'Program': 'program',
        'standalone_source': 'source',
        'trace': 'program',
        'write_c_project': 'c.c_project',
    },
)
