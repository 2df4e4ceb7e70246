"""The simulated arm of a run, with errors that nobody but it knows. Needs no ROS."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ne_dynamics.commission.subject import CommissionedArm
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.simulation import HiddenErrors
from ne_dynamics.simulation.demo.motion import excitation

HIDDEN = 'hidden_errors.yaml'


def prepare_simulated_arm(
    subject: CommissionedArm, errors: HiddenErrors, folder: Path
) -> dict[str, Any]:
    """Write what is hidden to a folder, and return the parameters of the simulated robot.

    The arm begins where its motors, with its true masses and friction, can move it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / HIDDEN
    errors.write(file)
    true = Dynamics(errors.apply(subject.robot), backend='python')
    start = excitation(subject.robot, 6.0, true.inverse_dynamics).positions[0]
    return {
        **subject.parameters(),
        'initial_position': start.tolist(),
        'hidden_errors_file': str(file.resolve()),
    }
