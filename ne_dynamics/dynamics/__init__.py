"""The dynamics of one robot: what users call.

``Dynamics(robot)`` answers for efforts, matrices, accelerations, energies, poses, derivatives,
control laws and for the generated text of all of them. Its methods check their arguments, choose
a row of :data:`ne_dynamics.codegen.functions.FUNCTIONS`, and let an evaluator compute it; on
machine code a compiled entry takes the method's place from the second call on.

Given to others: :class:`Dynamics`, :data:`STANDARD_GRAVITY`, :data:`BACKENDS`,
:data:`MOST_THREADS`.

Begin with ``dynamics.py`` (the class, put together of its parts) and ``terms.py`` (the efforts);
then ``calls.py`` (how a call is checked and answered) and ``entries.py`` (machine code).
"""

from ne_dynamics.dynamics.backends import BACKENDS
from ne_dynamics.dynamics.core import MOST_THREADS, STANDARD_GRAVITY
from ne_dynamics.dynamics.dynamics import Dynamics

__all__ = ['BACKENDS', 'MOST_THREADS', 'STANDARD_GRAVITY', 'Dynamics']
