"""What the efforts in the joint states say of the weight by the model."""

from __future__ import annotations

import time
from typing import Any

from ne_dynamics.control.controller import Controller
from ne_dynamics.control.guards.weight_check import (
    RestingState,
    Weight,
    WeightCheck,
    find_limit_share,
    find_limits,
)
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.ros.messages.conversion import JointStateReader
from ne_dynamics.ros.thresholds import NODE

WHAT_TO_CHECK = (
    'check the parameter gravity, how the base is mounted (base_link, imu), and the sign of the '
    'efforts; state_effort: ignore if they are no torques of the motors'
)


class WeightWatch:
    """Remembers the last joint state and compares its efforts with the model."""

    def __init__(self, controller: Controller, reader: JointStateReader) -> None:
        self._controller = controller
        self._reader = reader
        tuning = controller.tuning
        self._check = WeightCheck(find_limit_share(tuning.law.dynamics, find_limits(tuning)))
        self._last: tuple[Any, float, FloatArray, FloatArray | None, float] | None = None
        self._is_open = False
        self._doubt = ''

    def restart(self) -> None:
        """Check anew: the arm is commanded from now on."""
        self._is_open, self._doubt = True, ''

    def note(
        self,
        message: Any,
        now: float,
        position: FloatArray,
        velocity: FloatArray | None,
        arrival: float,
    ) -> None:
        """Remember a state that can be used, by its message.

        Stamp `now` and `arrival`, by `time.perf_counter` [s]; position and velocity, if measured,
        of shape (n,) [rad or m, rad/s or m/s].
        """
        self._last = message, now, position, velocity, arrival

    def find_refusal(self) -> str:
        """Return why the arm must not be commanded, by the last state; '' where it may be."""
        state = self._find_state()
        if state is None:
            return ''
        finding = self._check.find(self._controller, state)
        if finding.weight is not Weight.MIRRORED:
            return ''
        return f'joint_states: effort: {finding.text}: the weight is mirrored; {WHAT_TO_CHECK}'

    def find_doubt(self) -> str:
        """Return how far the weight is off since activation, in words; '' where it is not.

        To be asked from time to time. Judged from the first state at rest that tells something,
        until efforts and model agree: what touches the arm later is no fault of the model.
        """
        state = self._find_state() if self._is_open else None
        if state is None:
            return self._doubt
        finding = self._check.find(self._controller, state)
        if finding.weight is Weight.CONFIRMED:
            self._is_open, self._doubt = False, ''
        elif finding.weight is not Weight.UNKNOWN:
            self._doubt = (
                f'joint_states: effort: {finding.text}: off by more than half; {WHAT_TO_CHECK}, '
                'and masses and payload of the model'
            )
        return self._doubt

    def check_payload(self, tuning: Tuning) -> list[str]:
        """Return how the efforts contradict the load of another tuning, in words."""
        state = self._find_state()
        if state is None:
            return []
        remark = self._check.check_payload(self._controller, tuning, state)
        return [remark] if remark else []

    def _find_state(self) -> RestingState | None:
        """Return the last state with its efforts; None where it is too old, or of a motion."""
        if self._last is None:
            return None
        desired = self._controller.motion.present_state()
        if desired is not None and (desired.velocity.any() or desired.acceleration.any()):
            return None
        message, now, position, velocity, arrival = self._last
        if time.perf_counter() - arrival > NODE.state_age:
            return None
        return RestingState(now, position, velocity, self._reader.read_effort(message))
