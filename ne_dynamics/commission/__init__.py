"""Commissioning of an unknown arm in steps: listen, probe, excite, identify, gains, test motion.

``steps.py`` defines steps and runs them, ``arm_steps.py`` has the steps with the arm,
``offline_steps.py`` those without. ``arm`` is the connection to the arm: over DDS, simulated, or
in this process; ``fits`` are the fits to the records. A run continues where it ended: its folder
has everything.

Begin with ``arm_steps.py``.
"""

from typing import TYPE_CHECKING

from ne_dynamics.loaded_later import load_later

if TYPE_CHECKING:
    from ne_dynamics.commission.arm.one_process import OneProcessSession
    from ne_dynamics.commission.arm.session import Session
    from ne_dynamics.commission.arm_steps import ArmSteps
    from ne_dynamics.commission.folder import CommissionFolder
    from ne_dynamics.commission.offline_steps import Motions
    from ne_dynamics.commission.steps import Ending, Outcome, Step, perform
    from ne_dynamics.commission.subject import CommissionedArm

__all__ = [
    'ArmSteps',
    'CommissionFolder',
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
    __getattr__, __dir__ = load_later(__name__)
