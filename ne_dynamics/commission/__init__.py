"""An arm that nobody knows, step by step: listen, probe, excite, identify, gains, a test motion.

``steps.py`` are the steps with their conditions, ``work.py`` what each does, ``desk.py`` what is
computed of it. ``arm`` is the arm in front of one: behind DDS, simulated, or in this process;
``fits`` are what is fitted of the records. A run goes on where it ended: all is in its folder.

Begin with ``work.py``.
"""

from typing import TYPE_CHECKING

from ne_dynamics.loaded_later import load_later

if TYPE_CHECKING:
    from ne_dynamics.commission.arm.one_process import OneProcessSession
    from ne_dynamics.commission.arm.session import Session
    from ne_dynamics.commission.folder import CommissionFolder
    from ne_dynamics.commission.steps import Ending, Outcome, Step, perform
    from ne_dynamics.commission.subject import CommissionedArm
    from ne_dynamics.commission.work import CommissionWork, Motions

__all__ = [
    'CommissionFolder',
    'CommissionWork',
    'CommissionedArm',
    'Ending',
    'Motions',
    'OneProcessSession',
    'Outcome',
    'Session',
    'Step',
    'perform',
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = load_later(
        __name__,
        {
            'arm.one_process': 'OneProcessSession',
            'arm.session': 'Session',
            'folder': 'CommissionFolder',
            'steps': 'Ending Outcome Step perform',
            'subject': 'CommissionedArm',
            'work': 'Motions CommissionWork',
        },
    )
