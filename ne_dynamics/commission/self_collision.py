"""Whether the planned motions of a run keep the links of an arm apart. Needs no ROS.

Only what was planned is checked, and only against the arm itself: an arm may be off its motion by
what a run tolerates, and of what is around it nothing is known.
"""

from __future__ import annotations

import numpy as np

from ne_dynamics.commission.motions import PlannedMotion
from ne_dynamics.commission.thresholds import STEPS
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import ExcitationError, NeDynamicsError
from ne_dynamics.excitation import ExcitationLimits, load_solids
from ne_dynamics.excitation.clearance import Clearance
from ne_dynamics.excitation.verification import DenseMotion, Distances
from ne_dynamics.model.rigid_body import FloatArray


class SelfCollision:
    """The links of an arm, as the URDF of its given model has their shapes.

    What touches in every pose, and where the arm stands at the start, shape (n,) [rad or m], is
    left out. `why_not` says why nothing is checked; '' where motions are.
    """

    def __init__(self, dynamics: Dynamics, file: str, start: FloatArray) -> None:
        self._dynamics = dynamics
        self._clearance: Clearance | None = None
        self.why_not = ''
        try:
            solids = load_solids(file, dynamics.robot, description_file=file)
            limits = ExcitationLimits.of_robot(dynamics, start)
            self._clearance = Clearance(dynamics, solids, (), STEPS.link_margin, start, limits)
        except NeDynamicsError as error:
            self.why_not = str(error)

    @property
    def sentence(self) -> str:
        """What is checked of a motion, and what is not, for whoever consents to it."""
        rest = 'the floor, cables, and whatever is around the arm'
        if self.why_not:
            return f'Not checked: links against each other ({self.why_not}), {rest}.'
        return f'Checked by the shapes in the model: links against each other; not {rest}.'

    def check(self, motion: PlannedMotion) -> None:
        """Refuse a motion in which links come too near each other, and say what can be done."""
        if self._clearance is None:
            return
        count = max(2, round(motion.duration / STEPS.link_check_period) + 1)
        times = np.linspace(0.0, motion.duration, count)
        states = motion.between.sample_many(times)
        dense = DenseMotion(times, *states, np.zeros_like(states.position))
        try:
            Distances(self._dynamics, dense).check(self._clearance)
        except ExcitationError as error:
            raise ExcitationError(
                f'the planned motion is not begun: {error}; take a smaller --reach, another pose, '
                'or --planned'
            ) from error
