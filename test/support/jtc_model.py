"""What a joint trajectory controller makes of messages: a model of its rules, in our own words.

Written after the sources of ros2_controllers, joint_trajectory_controller 4.42.1 (Jazzy), not
after our code: what it accepts, where the motion is at each cycle, and when it gives up. Its
settings are named as its parameters are; of them `interpolate_from_desired_state` is true.
Messages are lists of points with the fields of a JointTrajectoryPoint; there are no joints
without end.

A new trajectory begins one period early: in the state that was commanded for this cycle, at the
time of the cycle before. So the desired position leaps a period ahead, and is back in time at the
first point. `leaps=False` begins in the same state at its own time, as the node does.

`defers` is the one rule of newer releases (from 6.8 on): what is followed is followed until the
stamp. `test/ros/test_jtc_parity.py` compares the model with the compiled sources, too.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
from jtc_interpolation import NANO, JointTrajectoryController


@dataclass
class Settings:
    """Parameters of the controller; 0 is no limit. `period` is one by its update rate."""

    interpolation_method: str = 'splines'
    allow_partial_joints_goal: bool = False
    allow_nonzero_velocity_at_trajectory_end: bool = False
    allow_integration_in_goal_trajectories: bool = False
    cmd_timeout: float = 0.0
    goal_time: float = 0.0
    stopped_velocity_tolerance: float = 0.01
    trajectory: dict[str, float] = field(default_factory=dict)
    goal: dict[str, float] = field(default_factory=dict)
    period: float = 0.05
    leaps: bool = True
    defers: bool = False


class _Motion:
    """One trajectory, from the state before it on; times are whole nanoseconds."""

    def __init__(self, points: list[Any], start: int, begin: int, before: list[np.ndarray]):
        self.start, self.begin, self.before = start, begin, before
        self.times = [start + round(point.time_from_start * NANO) for point in points]
        self.points = points = self._deduced(points)
        self.way = JointTrajectoryController(points) if len(points) > 1 else None
        lead = SimpleNamespace(
            time_from_start=0.0,
            positions=before[0],
            velocities=before[1],
            accelerations=before[2],
            effort=(),
        )
        first = SimpleNamespace(**vars(points[0]))
        first.time_from_start = (self.times[0] - begin) / NANO
        self.lead = JointTrajectoryController([lead, first]) if first.time_from_start > 0 else None

    def _deduced(self, points: list[Any]) -> list[Any]:
        """Return points with the positions that follow from the derivatives before and at them."""
        zero = np.zeros_like(self.before[0])
        names = ('positions', 'velocities', 'accelerations')
        one = dict(zip(names, self.before, strict=True))
        time, deduced = self.begin, []
        for point, due in zip(points, self.times, strict=True):
            other = {name: getattr(point, name) for name in names}
            if not len(other['positions']):
                half = 0.5 * (due - time) / NANO

                def of(state: dict[str, Any], name: str) -> np.ndarray:
                    state[name] = state[name] if len(state[name]) else zero
                    return state[name]

                if not len(other['velocities']):
                    gain = of(one, 'accelerations') + of(other, 'accelerations')
                    other['velocities'] = of(one, 'velocities') + half * gain
                way = of(one, 'velocities') + of(other, 'velocities')
                other['positions'] = one['positions'] + half * way
            deduced.append(SimpleNamespace(**{**vars(point), **other}))
            if len(deduced) > 1:
                # What the one before lacked counts as zero from here on.
                vars(deduced[-2]).update(one)
            one, time = other, due
        return deduced

    def _values(self, point: Any) -> list[np.ndarray]:
        zero = np.zeros(len(point.positions))
        fields = (point.positions, point.velocities, point.accelerations)
        return [np.array(values) if len(values) else zero for values in fields]

    def sample(self, now: int, method: str) -> list[np.ndarray]:
        """Return position, velocity and acceleration."""
        if now >= self.times[-1]:
            return self._values(self.points[-1])
        if now < self.times[0]:
            if method == 'none' or self.lead is None:
                return [np.array(values) for values in self.before]
            return list(self.lead.sample(now - self.begin)[:3])
        index = bisect_right(self.times, now) - 1
        if method == 'none':
            return self._values(self.points[index + 1])
        return list(self.way.sample(now - self.start)[:3])


class JtcModel:
    """The controller of an arm that is held at a position when it begins.

    Parameters
    ----------
    names : sequence of str
    position : array-like, shape (n,)
    settings : Settings
    """

    def __init__(self, names, position, settings: Settings) -> None:
        self.names = list(names)
        self.settings = settings
        still = np.zeros(len(self.names))
        self._held = [np.array(position, dtype=float), still, still]
        # What was commanded for the cycle after the last, and when.
        self._commanded, self._last = self._held, None
        self._motion: _Motion | None = None
        self._waiting: tuple[list[Any], int] | None = None
        self._message: tuple[list[Any], float] | None = None
        self._is_first = False
        self.reason = ''

    # ---- messages

    def refuses(self, names, points, stamp: float, now: float) -> str:
        """Return which of its checks a message does not pass; '' for none."""
        settings = self.settings
        if not settings.allow_partial_joints_goal and len(names) != len(self.names):
            return 'joints do not match'
        if not names or not points:
            return 'empty'
        if set(names) - set(self.names):
            return 'unknown joint'
        last = points[-1]
        moves = any(abs(value) > np.finfo(np.float32).eps for value in last.velocities)
        if moves and not settings.allow_nonzero_velocity_at_trajectory_end:
            return 'moves at its end'
        if stamp and stamp + last.time_from_start < now:
            return 'in the past'
        times = [point.time_from_start for point in points]
        if any(later <= sooner for sooner, later in pairwise(times)):
            return 'times do not increase'
        for point in points:
            sizes = (len(point.positions), len(point.velocities), len(point.accelerations))
            if settings.allow_integration_in_goal_trajectories:
                if not any(sizes) or any(size not in (0, len(names)) for size in sizes):
                    return 'lengths'
                continue
            if sizes[0] != len(names) or any(size not in (0, len(names)) for size in sizes[1:]):
                return 'lengths'
        return ''

    def receive(self, names, points, stamp: float, now: float) -> bool:
        """Take a message; return whether it is accepted."""
        if self.refuses(names, points, stamp, now):
            return False
        complete = [self._completed(names, point) for point in points]
        self._message = (complete, stamp)
        return True

    def _completed(self, names, point: Any) -> Any:
        """Return a point for all joints in the controller's order; others stay where they are."""
        here, still = self._commanded[0], np.zeros(len(self.names))

        def filled(values, others):
            if not len(values):
                return ()
            given = dict(zip(names, values, strict=True))
            return np.array([given.get(n, o) for n, o in zip(self.names, others, strict=True)])

        return SimpleNamespace(
            time_from_start=point.time_from_start,
            positions=filled(point.positions, here),
            velocities=filled(point.velocities, still),
            accelerations=filled(point.accelerations, still),
            effort=(),
        )

    # ---- cycles

    def update(self, now: float, position, velocity) -> list[np.ndarray]:
        """Return what is desired at a cycle; `reason` says when it has given up."""
        settings, time = self.settings, round(now * NANO)
        if self._message is not None:
            (points, stamp), self._message = self._message, None
            start = round(stamp * NANO)
            if settings.defers and start > time:
                self._waiting = (points, start)
            else:
                self._begin(points, start or time, time)
        if self._waiting is not None and time >= self._waiting[1]:
            (points, start), self._waiting = self._waiting, None
            self._begin(points, start, start)
        if self._motion is None:
            self._commanded, self._last = self._held, time
            return self._held
        desired = self._sampled(time)
        self.reason = self._judge(time, desired, position, velocity)
        self._is_first = False
        if self.reason in ('', 'timeout'):
            self._commanded = self._sampled(time + round(settings.period * NANO))
            self._last = time
        if self.reason:
            # From the next cycle on it stays where the arm was measured.
            still = np.zeros(len(self.names))
            self._held = [np.array(position, dtype=float), still, still]
            self._motion = None
        return desired

    def _sampled(self, time: int) -> list[np.ndarray]:
        """Return what is followed, or held, at a time."""
        if self._motion is None:
            return self._held
        return self._motion.sample(time, self.settings.interpolation_method)

    def _begin(self, points: list[Any], start: int, begin: int) -> None:
        before = self._sampled(begin)
        if self.settings.leaps and self._last is not None:
            before, begin = self._commanded, self._last
        self._motion = _Motion(points, start, begin, before)
        self._is_first = True

    def _judge(self, now: int, desired, position, velocity) -> str:
        settings = self.settings
        late = (now - self._motion.times[-1]) / NANO
        is_over = late >= 0.0
        timeout = settings.cmd_timeout if settings.cmd_timeout > settings.goal_time else 0.0
        if is_over and 0.0 < timeout < late:
            return 'timeout'
        error = np.abs(desired[0] - position)
        speed = np.abs(desired[1] - velocity)

        def outside(tolerances: dict[str, float], fastest: float) -> bool:
            limits = np.array([tolerances.get(name, 0.0) for name in self.names])
            far = bool(((limits > 0.0) & (error > limits)).any())
            return far or (fastest > 0.0 and bool((speed > fastest).any()))

        if (not is_over or self._is_first) and outside(settings.trajectory, 0.0):
            return 'path'
        if is_over and outside(settings.goal, settings.stopped_velocity_tolerance):
            return 'goal' if settings.goal_time and late > settings.goal_time else ''
        return ''
