"""What dry friction comes to at a velocity, for physics that have a level and no law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint

TURNING = 1e-3
"""Width of the change from one direction's friction to the other's, where the model has none
[rad/s or m/s]."""


def is_left_out(friction: FrictionModel) -> bool:
    """Return whether a joint has terms of friction that no level stands for."""
    return any((friction.load_coefficient, friction.square_root_friction, friction.cubic_friction))


@dataclass(frozen=True, eq=False)
class FrictionLevels:
    """Magnitude of the dry friction of joints, by their velocity.

    Attributes
    ----------
    coulomb, static, asymmetry, offset : array, shape (n,)
        As :class:`~ne_dynamics.model.friction.FrictionModel` has them [N m or N].
    stribeck_velocity, turning_velocity : array, shape (n,)
        [rad/s or m/s]
    """

    coulomb: FloatArray
    static: FloatArray
    asymmetry: FloatArray
    offset: FloatArray
    stribeck_velocity: FloatArray
    turning_velocity: FloatArray

    @classmethod
    def of(cls, joints: Sequence[Joint]) -> FrictionLevels | None:
        """Return those of joints; None where Coulomb's is all there is."""
        models = [joint.friction for joint in joints]
        if not any(
            model.static_friction is not None or model.friction_asymmetry or model.friction_offset
            for model in models
        ):
            return None
        coulomb = [joint.coulomb_friction for joint in joints]
        columns = (
            coulomb,
            [
                level if model.static_friction is None else model.static_friction
                for model, level in zip(models, coulomb, strict=True)
            ],
            [model.friction_asymmetry for model in models],
            [model.friction_offset for model in models],
            [model.stribeck_velocity or 1.0 for model in models],
            [model.smoothing_velocity or TURNING for model in models],
        )
        return cls(*(np.array(column) for column in columns))

    def at(self, velocity: FloatArray) -> FloatArray:
        """Return the magnitude at a velocity, shape (n,) [N m or N]; never negative."""
        slow = np.exp(-((velocity / self.stribeck_velocity) ** 2))
        level = self.coulomb + (self.static - self.coulomb) * slow
        level += self.asymmetry * np.tanh(velocity / self.turning_velocity)
        return np.maximum(level, 0.0)
