"""Recorded motions: read from CSV or a bag, checked, and filtered without delay.

:class:`Log` has the samples of a model's joints in its order; the arrays of long logs are
memory-mapped. ``readers`` read the files and do not guess units; ``samples`` find bad single
samples; ``signals.py`` filters, differentiates and decimates; ``parts.py`` splits long logs, and
``work.py`` computes on the parts, in this process or in an executor.

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
    from ne_dynamics.logs.segment import Signals
    from ne_dynamics.logs.signals import filtered

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
    __getattr__, __dir__ = load_later(__name__)
