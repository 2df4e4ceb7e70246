"""Identification from logs: inertias, friction, rotor inertias, drive gains, payloads.

:func:`identify` fits the parameters that the logs identify and keeps the others as given;
:func:`evaluate` compares measured efforts with those of a model. ``regression`` is the linear
model with its prior and solver; ``pieces`` apply it to logs of any length; ``load`` identifies
payloads; ``report`` and ``writing`` print the result and write URDF and extras.

Begin with ``run.py``, then ``fit.py``.
"""

from typing import TYPE_CHECKING

from ne_dynamics.loaded_later import load_later

if TYPE_CHECKING:
    from ne_dynamics.identification.evaluation import Evaluation, JointResidual, evaluate
    from ne_dynamics.identification.load.drive_gains import fit_drive_gains
    from ne_dynamics.identification.load.payload import identify_payload
    from ne_dynamics.identification.load.payload_fit import fit_payload
    from ne_dynamics.identification.pieces.log_set import FilteredLogs
    from ne_dynamics.identification.report.report import Report
    from ne_dynamics.identification.run import identify, identify_filtered
    from ne_dynamics.identification.settings import IdentificationSettings

__all__ = [
    'Evaluation',
    'FilteredLogs',
    'IdentificationSettings',
    'JointResidual',
    'Report',
    'evaluate',
    'fit_drive_gains',
    'fit_payload',
    'identify',
    'identify_filtered',
    'identify_payload',
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = load_later(__name__)
