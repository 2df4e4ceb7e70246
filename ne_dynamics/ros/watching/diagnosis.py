"""The diagnostics of the node, once a second on `/diagnostics`."""

from __future__ import annotations

from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from ne_dynamics.control.controller import Controller
from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.control.guards.state_guard import FaultKind
from ne_dynamics.control.sensors.velocity_source import VelocitySource, velocity_filter
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.ros.configured_arm import ConfiguredArm
from ne_dynamics.ros.connections import NO_PUBLISHER_EVENTS
from ne_dynamics.ros.settings.configuration import tracking_limits
from ne_dynamics.ros.thresholds import NODE
from ne_dynamics.ros.watching.diagnostics import Statistics
from ne_dynamics.ros.watching.other_commanders import list_publishers


class DiagnosticsPublisher:
    """Says how the arm does."""

    def __init__(self, node: Any, statistics: Statistics) -> None:
        self._node = node
        self._name: str = node.get_fully_qualified_name()
        self._statistics = statistics
        self._publisher = node.create_publisher(
            DiagnosticArray, '/diagnostics', 10, event_callbacks=NO_PUBLISHER_EVENTS
        )

    def publish(self, state: str, remarks: list[str], configured: ConfiguredArm | None) -> None:
        """Publish what there was since the last time, in a state of the life cycle.

        `remarks` say what is amiss with the node itself.
        """
        statistics = self._statistics
        values: dict[str, Any] = {'state': state}
        statuses, hardware = [], ''
        faults = [str(one) for one in statistics.new_faults()]
        if configured is None:
            remarks = [*remarks, 'not configured']
        else:
            hardware = configured.arm.robot.name
            fault = configured.controller.fault
            values['fault'] = str(fault) if fault is not None else 'none'
            # A fault that is over by now is told of once.
            if fault is not None and str(fault) not in faults:
                faults.append(str(fault))
            doubt = configured.refusal or (
                configured.weight.find_doubt() if configured.is_commanding else ''
            )
            if doubt:
                faults.append(doubt)
            remarks = [*remarks, *self._diagnose(configured, values)]
            if any(one.startswith(FaultKind.JUMPED.value) for one in faults):
                remarks += self._name_state_publishers()
            statuses.append(self._diagnose_tracking(configured))
        self._node.answer_states()
        values.update(statistics.inputs())
        new_drops = statistics.new_drops()
        if new_drops:
            remarks.append(f'{new_drops} messages dropped')
        self._node.answer_states()
        level = DiagnosticStatus.WARN if remarks else DiagnosticStatus.OK
        summary = _make_status(
            DiagnosticStatus.ERROR if faults else level,
            self._name,
            '; '.join(faults + remarks) or state,
            values,
        )
        self._send([summary, *statuses], hardware)

    def _send(self, statuses: list[DiagnosticStatus], hardware: str) -> None:
        message = DiagnosticArray(status=statuses)
        for status in statuses:
            status.hardware_id = hardware
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def _diagnose(self, configured: ConfiguredArm, values: dict[str, Any]) -> list[str]:
        """Add to `values` what there is to say on the arm; return what is amiss."""
        arm, controller = configured.arm, configured.controller
        terms = controller.tuning.law.terms
        values['model'] = arm.robot.name
        findings = (
            f'{finding.element}: {finding.message}'
            for finding in arm.uncut.findings
            if finding.severity != 'info'
        )
        values['findings'] = '; '.join(findings) or 'none'
        values['mode'] = controller.tuning.mode.value
        values['terms'] = ' '.join(key for key, is_on in vars(terms).items() if is_on)
        values['on_deactivate'] = configured.settings.on_deactivate.value
        values['joints'] = ' '.join(arm.command_names)
        for name, value in self._statistics.outputs(arm.robot.joint_names):
            values[name] = value
            self._node.answer_states()
        values.update(_delays(controller))
        verdict = controller.check.find_verdict(controller.tuning)
        self._node.answer_states()
        remarks = [*verdict.refusals, *verdict.remarks]
        saturated = values['saturated in the last second']
        if saturated != 'none':
            remarks.append(f'saturated: {saturated}')
        remarks += _diagnose_steps(configured)
        if configured.is_commanding and controller.time is None:
            remarks.append('no usable joint_states yet')
        age = self._statistics.age('joint_states')
        is_waiting = configured.is_commanding and controller.fault is None
        if is_waiting and NODE.state_age_warning < age < np.inf:
            remarks.append(f'no joint_states for {age:.1f} s')
        self._node.answer_states()
        others = configured.others.find()
        values['other commanders'] = ' '.join(others) or 'none'
        if others and configured.is_commanding:
            remarks.append(configured.others.describe(others))
        return remarks + _diagnose_sensors(configured)

    def _name_state_publishers(self) -> list[str]:
        """Return who publishes joint states, where there are several: two may name one joint."""
        topic = self._node.resolve_topic_name('joint_states')
        names = list_publishers(self._node, topic)
        if len(names) < 2:
            return []
        return [f'{topic} has {len(names)} publishers: {", ".join(names)}: each joint needs one']

    def _diagnose_tracking(self, configured: ConfiguredArm) -> DiagnosticStatus:
        """Report on the tracking errors since the last time, and forget them."""
        arm, controller = configured.arm, configured.controller
        errors = controller.watch.peak_error.copy()
        controller.watch.peak_error[:] = 0.0
        values: dict[str, Any] = {}
        level, text = DiagnosticStatus.OK, 'nothing is followed'
        if configured.is_commanding and controller.motion.trajectory is not None:
            values = {
                f'{arm.robot.joint_names[index]} [rad or m]': f'{errors[index]:.6g}'
                for index in arm.command_order
            }
            level, text = _check_tracking(configured, errors)
        return _make_status(level, f'{self._name}: tracking error', text, values)


def _check_tracking(configured: ConfiguredArm, errors: FloatArray) -> tuple[bytes, str]:
    """Return how bad the largest position errors are, shape (n,) [rad or m], and why, in words."""
    warn, error = tracking_limits(configured.settings, configured.arm)
    for level, bounds in ((DiagnosticStatus.ERROR, error), (DiagnosticStatus.WARN, warn)):
        above = np.flatnonzero(errors >= bounds)
        if above.size:
            worst = int(above[np.argmax((errors / bounds)[above])])
            return level, (
                f'joint {configured.arm.robot.joint_names[worst]!r}: {errors[worst]:.3g} from the '
                f'desired position; expected less than {bounds[worst]:.3g}'
            )
    return DiagnosticStatus.OK, f'at most {errors.max():.3g} from the desired position'


def _delays(controller: Controller) -> dict[str, str]:
    """Return how late a command is, and the measured velocity, by the rate of the states."""
    period = controller.accept.rate.period
    if period <= 0.0:
        return {}
    delays = {'delay [ms]': f'{1e3 * GUARD_LIMITS.periods_of_delay * period:.3g}'}
    source = velocity_filter(controller.tuning.velocity, period)
    if source is not None:
        delays['velocity lag [ms]'] = f'{1e3 * source.lag:.3g}'
    return delays


def _diagnose_steps(configured: ConfiguredArm) -> list[str]:
    """Return whether the command of a held arm steps to and fro, and what helps."""
    stepping = configured.states.effort_steps.take()
    if stepping is None:
        return []
    is_measured = configured.controller.tuning.velocity.source is VelocitySource.MEASURED
    remedy = 'velocity_source differentiated or estimated'
    if not is_measured:
        remedy = 'velocity_source estimated, a lower velocity_cutoff_frequency or lower gains'
    name = configured.arm.robot.joint_names[stepping.joint]
    return [
        f'joint_states: coarse or noisy velocities: the command of joint {name!r}, which is held, '
        f'stepped to and fro {stepping.turns} times in the last second, by up to '
        f'{stepping.share:.2f} of its effort limit; better is {remedy}'
    ]


def _diagnose_sensors(configured: ConfiguredArm) -> list[str]:
    """Return what is amiss with wrist sensor and IMU."""
    controller = configured.controller
    wrist, imu, now = controller.sense.wrist, controller.sense.imu, controller.time
    remarks = []
    if wrist is not None and now is not None:
        if wrist.is_stale(now):
            remarks.append(f'no recent wrench: {wrist.settings.on_timeout.value}')
        if wrist.was_saturated():
            remarks.append('wrench beyond wrench.max_force or wrench.max_torque')
        doubt = configured.wrench_sign.look()
        if doubt:
            remarks.append(doubt)
    if imu is not None and now is not None:
        if imu.is_stale(now):
            remarks.append(f'no recent imu: {imu.settings.on_timeout.value}')
        tilt = np.rad2deg(imu.tilt_at(now))
        if tilt > NODE.upside_down:
            remarks.append(f'imu: the base is tilted by {tilt:.0f} degrees; is its sign right?')
    return remarks


def _make_status(
    level: bytes, name: str, message: str, values: dict[str, Any]
) -> DiagnosticStatus:
    return DiagnosticStatus(
        level=level,
        name=name,
        message=message,
        values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
    )
