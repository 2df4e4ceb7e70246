"""Feedback gains from a model: as stiff as delay, filter, rate and motors allow.

:func:`design_gains` returns for each mode of a :class:`GainRequest` a design with its margins, or
the reason why there is none. Stability is checked in discrete time (``loop.py``) for the smallest
and the largest mass matrix in poses of the workspace (``plants.py``), and errors are predicted
(``prediction.py``); :mod:`ne_dynamics.simulation.gain_proof` simulates the design in MuJoCo.

Begin with ``design.py``; ``search.py`` chooses the gains, ``margins.py`` computes margins.
"""

from typing import TYPE_CHECKING

from ne_dynamics.loaded_later import load_later

if TYPE_CHECKING:
    from ne_dynamics.gains.design import design_gains
    from ne_dynamics.gains.designed_gains import GainDesign
    from ne_dynamics.gains.files import (
        FILE_NAMES,
        KINDS,
        as_yaml,
        list_kinds,
        make_files,
        order_joints,
        require_controller_name,
    )
    from ne_dynamics.gains.kind import RAW
    from ne_dynamics.gains.prediction import SETTLED
    from ne_dynamics.gains.request import ALL_MODES, GainMode, GainRequest

__all__ = [
    'ALL_MODES',
    'FILE_NAMES',
    'KINDS',
    'RAW',
    'SETTLED',
    'GainDesign',
    'GainMode',
    'GainRequest',
    'as_yaml',
    'design_gains',
    'list_kinds',
    'make_files',
    'order_joints',
    'require_controller_name',
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = load_later(__name__)
