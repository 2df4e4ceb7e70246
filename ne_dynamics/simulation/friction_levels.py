"""What dry friction comes to at a velocity, for physics that have a level and no law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ne_dynamics.algorithms.hysteresis import move_hysteresis
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint
from ne_dynamics.simulation.thresholds import SIMULATION


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
            [model.smoothing_velocity or SIMULATION.turning_velocity for model in models],
        )
        return cls(*(np.array(column) for column in columns))

    def at(self, velocity: FloatArray) -> FloatArray:
        """Return the magnitude at a velocity, shape (n,) [N m or N]; never negative."""
        slow = np.exp(-((velocity / self.stribeck_velocity) ** 2))
        level = self.coulomb + (self.static - self.coulomb) * slow
        level += self.asymmetry * np.tanh(velocity / self.turning_velocity)
        return np.maximum(level, 0.0)


class HysteresisEfforts:
    """What the hysteresis of joints takes along their path.

    Parameters
    ----------
    models : sequence of FrictionModel
        Of the joints.
    """

    def __init__(self, models: Sequence[FrictionModel]) -> None:
        self._models = tuple(models)
        self._states = [0.0] * len(self._models)
        self._position: FloatArray | None = None

    @classmethod
    def of(cls, joints: Sequence[Joint]) -> HysteresisEfforts | None:
        """Return those of joints; None where no joint has hysteresis."""
        models = [joint.friction for joint in joints]
        return cls(models) if any(model.has_hysteresis for model in models) else None

    def copy(self) -> HysteresisEfforts:
        """Return the same, to go on by itself."""
        other = HysteresisEfforts(self._models)
        other._states, other._position = list(self._states), self._position
        return other

    def begin(self) -> None:
        """Forget the path: the next position is its first."""
        self._states, self._position = [0.0] * len(self._models), None

    def at(self, position: FloatArray) -> FloatArray:
        """Return the efforts after going on to a position, shape (n,) [N m or N]."""
        if self._position is not None:
            steps = (position - self._position).tolist()
            self._states = [
                float(move_hysteresis(model, state, step))  # type: ignore[arg-type]
                for model, state, step in zip(self._models, self._states, steps, strict=True)
            ]
        self._position = position.copy()
        return np.array(
            [
                model.hysteresis_friction * state
                for model, state in zip(self._models, self._states, strict=True)
            ]
        )
