"""What a driver does: meaning, sign, unit and order of its efforts, delay, rates, velocities.

:func:`describe_driver` listens to states and commands and says what to set;
:func:`diagnose_log` says what is wrong with a log, by the same ``evidence``: how well each reading
of it goes together with the equations of motion.

``hypotheses`` has a cause a file; ``hypotheses/row.py`` is the row of them. Begin with
``description.py`` or ``diagnosis.py``, then ``evidence/evidence.py``.
"""

from typing import TYPE_CHECKING

from ne_dynamics.loaded_later import load_later

if TYPE_CHECKING:
    from ne_dynamics.driver.description import DriverDescription, describe_driver
    from ne_dynamics.driver.diagnosis import diagnose_log
    from ne_dynamics.driver.recording import CommandLog, DriverRecording

__all__ = [
    'CommandLog',
    'DriverDescription',
    'DriverRecording',
    'describe_driver',
    'diagnose_log',
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = load_later(
        __name__,
        {
            'description': 'DriverDescription describe_driver',
            'diagnosis': 'diagnose_log',
            'recording': 'CommandLog DriverRecording',
        },
    )
