"""Motions that excite a robot's inertias and friction best for identification, within limits.

:func:`plan_excitation` plans one; :mod:`ne_dynamics.identification` fits a model to the
measurements. ``basis.py`` has the family of motions, ``columns.py`` and ``information.py`` the
information of a motion, ``limits.py`` and ``clearance.py`` its limits, ``constraints.py`` and
``search.py`` the optimization. ``verification.py`` checks the written motion independently of the
search.

Begin with ``plan.py``.
"""

from typing import TYPE_CHECKING

from ne_dynamics.loaded_later import load_later

if TYPE_CHECKING:
    from ne_dynamics.excitation.keep_out import FLOOR, KeepOut
    from ne_dynamics.excitation.limits import ExcitationLimits, Shares
    from ne_dynamics.excitation.plan import Excitation, plan_excitation
    from ne_dynamics.excitation.solids import load_solids

__all__ = [
    'FLOOR',
    'Excitation',
    'ExcitationLimits',
    'KeepOut',
    'Shares',
    'load_solids',
    'plan_excitation',
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = load_later(__name__)
