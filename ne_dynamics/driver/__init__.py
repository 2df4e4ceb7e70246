"""Properties of a driver: meaning, sign, unit and order of its efforts, delay, rates, velocities.

:func:`describe_driver` determines them from states and commands, with settings for the node;
:func:`diagnose_log` finds the faults of a log. Both use ``evidence``: how well each possible
interpretation fits the equations of motion.

``hypotheses`` has one cause per file; ``hypotheses/row.py`` lists them. Begin with
``description.py`` or ``diagnosis.py``, then ``evidence/evidence.py``.
"""

from typing import TYPE_CHECKING

from ne_dynamics.loaded_later import load_later

if TYPE_CHECKING:
    from ne_dynamics.driver.description import describe_driver
    from ne_dynamics.driver.diagnosis import diagnose_log
    from ne_dynamics.driver.profile import DriverDescription
    from ne_dynamics.driver.recording import CommandLog, DriverRecording

__all__ = [
    'CommandLog',
    'DriverDescription',
    'DriverRecording',
    'describe_driver',
    'diagnose_log',
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = load_later(__name__)
