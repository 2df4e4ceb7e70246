"""Recorded motions: read from CSV or a bag, filtered without delay, and their samples judged.

:class:`Log` holds the joints of a model in its order, whatever its length: what is large is mapped
from a file. ``readers`` know the files and never guess a unit; ``samples`` find what is wrong with
single samples; ``signals.py`` filters, differentiates and thins; ``parts.py`` cuts long logs, and
``work.py`` says who computes what is asked of their parts: this process, or an executor.

Begin with ``log.py``, then ``signals.py``.
"""

from typing import TYPE_CHECKING

from ne_dynamics.loaded_later import load_later

if TYPE_CHECKING:
    from ne_dynamics.logs.diagnosis import LogDiagnosis
    from ne_dynamics.logs.finding import Certainty, Finding
    from ne_dynamics.logs.log import Log
    from ne_dynamics.logs.reading import LogReading
    from ne_dynamics.logs.recording import Recording
    from ne_dynamics.logs.signals import Signals, filtered

__all__ = [
    'Certainty',
    'Finding',
    'Log',
    'LogDiagnosis',
    'LogReading',
    'Recording',
    'Signals',
    'filtered',
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = load_later(
        __name__,
        {
            'diagnosis': 'LogDiagnosis',
            'finding': 'Certainty Finding',
            'log': 'Log',
            'reading': 'LogReading',
            'recording': 'Recording',
            'signals': 'Signals filtered',
        },
    )
