"""The dynamics of one robot: the class that users call.

``Dynamics(robot)`` computes efforts, matrices, accelerations, energies, poses, derivatives and
control laws, and exports the generated code of all of them. Its methods check their arguments,
choose a row of :data:`ne_dynamics.codegen.functions.FUNCTIONS` and let an evaluator compute it.
With machine code, a compiled entry replaces the method from the second call on.

Gives :class:`Dynamics`, :data:`STANDARD_GRAVITY`, :data:`BACKENDS`, :data:`MOST_THREADS`.

Begin with ``dynamics.py`` (the class, composed of mixins) and ``terms.py`` (the efforts); then
``calls.py`` (how a call is checked and answered) and ``entries.py`` (machine code).
"""

from ne_dynamics.dynamics.backends import BACKENDS
from ne_dynamics.dynamics.core import MOST_THREADS, STANDARD_GRAVITY
from ne_dynamics.dynamics.dynamics import Dynamics

__all__ = ['BACKENDS', 'MOST_THREADS', 'STANDARD_GRAVITY', 'Dynamics']
