"""What the node keeps of the states it answers, to tell what the arm carries."""

from __future__ import annotations

from typing import Any, NamedTuple

from ne_dynamics.control.payload.carrier import Carrier, PayloadSource, measured_load_by
from ne_dynamics.control.payload.motion_windows import MeasuredState, MotionWindows, Window
from ne_dynamics.control.payload.thresholds import PAYLOAD
from ne_dynamics.control.sensors.state_effort import StateEffort
from ne_dynamics.control.tick import Tick
from ne_dynamics.errors import PayloadError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.ros.arm_context import ArmContext
from ne_dynamics.ros.messages.conversion import JointStateReader


class Question(NamedTuple):
    """What :func:`~ne_dynamics.control.payload.estimate.estimate_payload` is asked."""

    carrier: Carrier
    windows: tuple[Window, ...]
    source: PayloadSource


class MeasuredMotion:
    """Gathers states with what was measured in them, while the arm is commanded."""

    def __init__(self, context: ArmContext, reader: JointStateReader) -> None:
        self._arm, self._controller = context.arm, context.controller
        self._read_settings = context.read_settings
        self._reader = reader
        self._windows = MotionWindows()
        self._settings = context.settings
        self.adopt()

    def restart(self) -> None:
        """Forget everything: what is measured from now on is another load, or felt otherwise."""
        self._windows.clear()

    def adopt(self) -> None:
        """Let other settings of the node count; another payload is another load."""
        before, self._settings = self._settings, self._read_settings()
        now = self._settings
        self._windows.span = now.estimate_duration
        is_same_sign = before.wrench.measures == now.wrench.measures
        if before.payload != now.payload or not is_same_sign:
            self.restart()

    def note(self, time: float, position: FloatArray, message: Any, command: Tick) -> None:
        """Take note of a state, with its message, that was answered at a time [s]."""
        if not self._windows.wants(time):
            return
        controller = self._controller
        law, wrist, imu = controller.tuning.law, controller.sense.wrist, controller.sense.imu
        effort = None
        if wrist is None and controller.tuning.state_effort is StateEffort.TORQUE:
            effort = self._reader.read_effort(message)
            if effort is not None and not effort.any():
                # Nobody measures, or brakes carry the arm.
                effort = None
        # Without feedback a command says what the model knows, and without gravity not all.
        tells = law.has_feedback and law.terms.gravity
        self._windows.add(
            MeasuredState(
                time,
                position,
                effort,
                command.effort if tells else None,
                None if wrist is None else wrist.measured_at(time),
                None if imu is None or imu.at(time) is None else imu.resting_at(time),
            )
        )

    def ask(self) -> Question:
        """Return what there is to tell the load from.

        Raises
        ------
        PayloadError
            When nothing tells it.
        ModelError
            When there is no such link.
        """
        windows = self._windows.windows()
        carrier = self._find_carrier()
        if self._controller.sense.wrist is not None:
            return Question(carrier, windows, PayloadSource.WRENCH)
        for source in (PayloadSource.EFFORT, PayloadSource.COMMAND):
            if any(measured_load_by(window, source) is not None for window in windows):
                return Question(carrier, windows, source)
        if not windows:
            raise PayloadError(
                'no joint states were answered yet, or fewer than the '
                f'{PAYLOAD.least_states / PAYLOAD.window:g} a second that are needed'
            )
        tuning = self._controller.tuning
        raise PayloadError(
            'no efforts to estimate the load from: expected torques in the joint states with '
            f'state_effort {StateEffort.TORQUE.value}, or commands of a mode with feedback and '
            f'with terms.gravity; got none with state_effort {tuning.state_effort.value}, mode '
            f'{tuning.mode.value}, terms.gravity {str(tuning.law.terms.gravity).lower()}'
        )

    def _find_carrier(self) -> Carrier:
        arm, name = self._arm, self._settings.payload.link
        if arm.wrench_link is None:
            return Carrier.of_robot(arm.dynamics, name)
        cut = arm.uncut.link(arm.wrench_link)
        name = name or arm.uncut.tip_link or ''
        if name not in arm.uncut.descendants(cut.name):
            raise PayloadError(
                f'payload.link: expected a link beyond the sensor at {cut.name!r}, which feels '
                f'nothing else, got {name!r}'
            )
        link = arm.uncut.link(name)
        if link.body != cut.body:
            raise PayloadError(
                f'payload.link: expected a link that does not move against the sensor at '
                f'{cut.name!r}, got {name!r}'
            )
        pose = cut.pose_in_body.inverse() @ link.pose_in_body
        return Carrier(arm.dynamics, name, pose, arm.tool)
