"""Seventh stage: the command does not step when its nature changes.

The offset is what the old law, with the old model and readings, would command for *this* state,
less what the new one commands. It decays in the transition time; the feedback counts in full
meanwhile, so that a push is answered at once. Where no old law is, at the first command and after
a fault, the last command takes its place; at the first command, the effort that the motors report.

Drives that close a loop of their own are led in the same way: the desired position and velocity
that they are sent have an offset too, and the effort is computed with what is sent.
"""

from __future__ import annotations

import numpy as np

from ne_dynamics.control.sensors.state_effort import StateEffort, find_beginning
from ne_dynamics.control.stages.limits import clamp_effort
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.control.tick import Tick
from ne_dynamics.control.transition import CommandOffset
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.joint_limits import usual_velocities
from ne_dynamics.motion.waypoints import DesiredState, resting_state


class Transition:
    """Leads effort and setpoint over to what they are to be.

    It steps three times: :meth:`notice`, before the motion is asked; :meth:`lead`, before the
    effort is computed; and :meth:`step`.
    """

    def __init__(self, tuning: Tuning) -> None:
        self._effort = CommandOffset(tuning.transition_time)
        # A position that steps is no choice.
        self._setpoint = CommandOffset(tuning.transition_time or COMMAND.transition_time)
        self._began_at: float | None = None

    def configure(self, tuning: Tuning) -> None:
        """Use another tuning from the next state on."""
        self._effort.configure(tuning.transition_time)
        self._setpoint.configure(tuning.transition_time or COMMAND.transition_time)

    def reset(self) -> None:
        """Forget all offsets."""
        self._effort.clear()
        self._setpoint.clear()

    def end_effort(self) -> None:
        """Forget the offset of the effort: it was of a motion that was given up."""
        self._effort.clear()

    @property
    def duration(self) -> float:
        """Transition time [s]; 0 for none."""
        return self._effort.duration

    def notice(self, tick: Tick) -> None:
        """Set `begins`, `elapsed`, `changed_from`, and `offset`."""
        before = tick.before
        if tick.fault is not None or tick.last_effort is None:
            # Nobody knows what time the last command was for.
            tick.begins = True
            self._effort.clear()
        else:
            tick.elapsed = tick.since_last
        if (
            before is not None
            and not tick.begins
            and (
                before.tuning is not tick.tuning
                or before.law is not tick.law
                or before.nature != tick.nature
            )
        ):
            tick.changed_from = before
        offset = self._effort
        if offset.value is not None:
            offset.decay(tick.elapsed)
            tick.offset = offset.value

    def lead(self, tick: Tick) -> None:
        """Lead `desired`, and `desired_before`, of drives that close a loop around them."""
        if not tick.tuning.drives_close_loop:
            return
        offset, error = self._setpoint, tick.law.position_error
        sent, before, desired = tick.last_setpoint, tick.desired_before, tick.desired
        # The motion goes on while no states come, and with a stamp ahead of its time.
        leaps = (
            tick.period > 0.0
            and not 0.0 <= tick.elapsed <= COMMAND.longest_state_gap * tick.period
        )
        offset.decay(tick.elapsed)
        if before is not None:
            before = tick.desired_before = _add(before, offset)
        if sent is not None and (tick.begins or leaps or tick.goes_elsewhere):
            gap = error(sent.position, desired.position)
            reach = COMMAND.reach_time * usual_velocities(tick.law.joints)
            if tick.begins:
                # Nobody knows what the arm did meanwhile.
                offset.clear()
            if not tick.begins or (np.abs(gap) <= reach).all():
                offset.change(gap)
        elif before is not None and not tick.may_step:
            gap = error(before.position, desired.position)
            present = 0.0 if offset.value is None else offset.value
            if np.abs(gap - present).max() > 1e-9:  # else it is rounding
                offset.change(gap)
        tick.desired = _add(desired, offset)
        if leaps and before is not None:
            # The old command would have been led in the same way.
            tick.desired_before = tick.desired

    def step(self, tick: Tick) -> None:
        """Set `effort`; where the command begins, `reported_start` and `unused_effort` too."""
        effort, limits = tick.wanted, tick.tuning.effort_limits
        start = None
        if tick.begins:
            self._began_at = tick.now
            start = self._find_start(tick)
        elif tick.changed_from is not None and tick.now != self._began_at:
            # Before any time has passed since the first command, it is the first one still.
            start = self._compute_old_command(tick, tick.changed_from)
        if start is not None:
            self._effort.change(clamp_effort(start, limits) - clamp_effort(effort, limits))
        offset = self._effort.value
        tick.effort = effort if offset is None else clamp_effort(effort, limits) + offset

    def _compute_old_command(self, tick: Tick, before: Tick) -> FloatArray | None:
        """Return the command of this state, had nothing changed; the last one if there is none."""
        desired, limits = tick.desired_before, before.tuning.effort_limits
        try:
            effort = before.law.effort(
                tick.position,
                tick.velocity,
                tick.desired if desired is None else desired,
                before.wrench,
                before.base,
            )
            if tick.hysteresis_before is not None:
                effort = effort + tick.hysteresis_before
            lacking = tick.compensation_before
            if lacking is None:
                lacking = before.compensation
            if lacking is not None:
                effort = effort - lacking
            effort = clamp_effort(effort, limits)
            return effort if tick.offset is None else clamp_effort(effort + tick.offset, limits)
        except InputError:
            return tick.last_effort

    def _find_start(self, tick: Tick) -> FloatArray | None:
        """Return where a command begins that no law leads to: the first, and after a fault.

        It sets `reported_start` and `unused_effort`.
        """
        measured, tuning, position = tick.measured_effort, tick.tuning, tick.position
        if tick.last_effort is not None or measured is None:
            return tick.last_effort
        is_used = self._effort.duration > 0.0 or tuning.effort_rates.any()
        if tuning.state_effort is StateEffort.IGNORE or not is_used:
            return None
        if not measured.any():
            # Brakes hold the arm, or nobody measures.
            tick.reported_start = measured
            return None
        law, base = tuning.hold_law, None if tick.base is None else tick.base.at_rest
        try:
            beginning = find_beginning(
                measured,
                tuning.state_effort,
                holding=law.effort(position, None, resting_state(position), tick.wrench, base),
                gravity=law.compensation.gravity(position, base),
                commands_gravity=law.compensation.terms.gravity,
                limits=tuning.effort_limits,
                joint_names=[joint.name for joint in law.joints],
            )
        except InputError:
            # The law will say so of itself.
            return None
        tick.reported_start, tick.unused_effort = beginning.effort, beginning.refusal
        return beginning.effort


def _add(desired: DesiredState, offset: CommandOffset) -> DesiredState:
    """Return a desired state with the offset of position and velocity."""
    if offset.value is None or offset.slope is None:
        return desired
    return desired._replace(
        position=desired.position + offset.value, velocity=desired.velocity + offset.slope
    )
