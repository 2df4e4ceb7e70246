"""An arm that reports its states and is held by a node: over ROS 2, or in one process."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ne_dynamics.commission.arm.faults import ArmFault, StrayedArm
from ne_dynamics.commission.arm.followed_plan import FollowedPlan, turned
from ne_dynamics.commission.motions import PlannedMotion, plan_approach
from ne_dynamics.commission.record import Record
from ne_dynamics.commission.thresholds import ARM
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.motion import NANO

Progress = Callable[[float], None]
StateCheck = Callable[[int], None]


class State(NamedTuple):
    """What the arm reports; NaN where there is nothing."""

    position: FloatArray
    velocity: FloatArray
    effort: FloatArray


class Answer(NamedTuple):
    """What answered a state."""

    command: FloatArray
    desired: FloatArray


class HeldArm(abc.ABC):
    """An arm that reports its states, and that a node holds for the time of a motion.

    Time is that of the stamps of the states.

    Parameters
    ----------
    robot : Robot

    Attributes
    ----------
    robot : Robot
    joint_names : tuple of str
    is_simulated : bool
        Whether time is a simulation's.
    receptions : list of (int, int)
        Stamp and time of reception of every state since they were forgotten [ns].
    check : callable
        Called before every motion; raises an error if it must not begin.
    """

    is_simulated: bool

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.joint_names = robot.joint_names
        self.check: Callable[[PlannedMotion], None] = lambda motion: None
        self.receptions: list[tuple[int, int]] = []
        self._states: dict[int, State] = {}
        self._answers: dict[int, Answer] = {}
        self._newest = 0

    def _hear(self, stamp: int, received: int, *rows: FloatArray) -> None:
        """Take note of a state: position, velocity, effort."""
        self.receptions.append((stamp, received))
        self._states[stamp] = State(*rows)
        self._newest = stamp

    @property
    def now(self) -> float:
        """Stamp of the newest state [s]."""
        return self._newest / NANO

    @property
    def position(self) -> FloatArray:
        """Reported position of the newest state, shape (n,) [rad or m]."""
        return self._states[self._newest].position

    def forget(self) -> None:
        """Forget the states before the newest, and all answers."""
        newest = self._states.get(self._newest)
        self._states = {} if newest is None else {self._newest: newest}
        self._answers, self.receptions = {}, []

    def record(self, since: float = 0.0) -> Record:
        """Return the states from a stamp on [s]."""
        stamps = sorted(stamp for stamp in self._states if stamp >= since * NANO)
        nothing = np.full(len(self.joint_names), np.nan)
        none = Answer(nothing, nothing)
        rows = [(*self._states[stamp], *self._answers.get(stamp, none)) for stamp in stamps]
        tables = np.array(rows).reshape(len(stamps), 5, nothing.size).swapaxes(0, 1)
        times = np.array(stamps, dtype=np.float64) / NANO
        return Record(self.joint_names, times, *np.ascontiguousarray(tables))

    @abc.abstractmethod
    def catch_up(self) -> None:
        """Read what waits."""

    @abc.abstractmethod
    def pass_time(
        self, until: float, progress: Progress | None = None, check: StateCheck | None = None
    ) -> None:
        """Let the arm's time go on until a stamp [s], and watch what is watched.

        Progress is told the newest stamp now and then [s]. The check is called with the stamp of
        each state that the node has answered, in their order [ns].

        Raises
        ------
        ArmFault
            When states stop, the node has a fault, or it ended.
        """

    @abc.abstractmethod
    def moving(
        self,
        name: str,
        parameters: Mapping[str, Any],
        file: Path,
        look: Progress | None = None,
    ) -> AbstractContextManager[None]:
        """Let a node with these parameters, written to a file, hold the arm in the context.

        Its log has the name. `look` is called with the stamp of the newest state, from the release
        of the brakes until the context begins [s].
        """

    @abc.abstractmethod
    def rest(self) -> None:
        """Engage the brakes and stop the node."""

    @abc.abstractmethod
    def set_parameters(self, values: Mapping[str, Any]) -> None:
        """Set parameters of the node that holds it.

        Raises
        ------
        ArmFault
            When it refuses.
        """

    @abc.abstractmethod
    def _send(self, motion: PlannedMotion) -> float:
        """Send a motion that begins in a while by the newest state, and return when [s]."""

    @abc.abstractmethod
    def _await_fault(self) -> None:
        """Raise the fault that the node is about to report, if it does."""

    def _tell_node(self) -> str:
        """Return what the node has said last."""
        return ''

    def follow(
        self,
        motion: PlannedMotion,
        tolerance: FloatArray,
        progress: Progress | None = None,
        astray: FloatArray | None = None,
    ) -> Record:
        """Go to the start of a motion, let the node follow it, and return what was heard of it.

        The position error is within the tolerance, shape (n,)
        [rad or m]; progress is told the time reached [s]. A joint may go away from where it is
        wanted by as much as `astray` says, shape (n,) [rad or m], see
        :class:`~ne_dynamics.commission.arm.followed_plan.FollowedPlan`.

        Raises
        ------
        ArmFault
            When the motion is not followed within the tolerance, the node aims elsewhere than
            planned, or something else is wrong; the node goes on until it is asked to hold.
        StrayedArm
            When a joint goes away from where it is wanted.
        """
        self.check(motion)
        self.catch_up()
        # From where the arm is held, which is not quite where it is: the node knows.
        way = plan_approach(self.robot, self.position, motion)
        if way is not None:
            self.check(way)
            self._follow(way, tolerance)
        self.forget()
        return self._follow(motion, tolerance, progress, astray)

    def _follow(
        self,
        motion: PlannedMotion,
        tolerance: FloatArray,
        progress: Progress | None = None,
        astray: FloatArray | None = None,
    ) -> Record:
        """Let the node follow a motion that begins where the arm stands; see :meth:`follow`."""
        start = self._send(motion)
        plan = FollowedPlan(self.joint_names, motion, tolerance, astray)

        def look(now: float) -> None:
            if progress is not None:
                progress(max(now - start, 0.0))

        def check(stamp: int) -> None:
            desired, measured = self._answers[stamp].desired, self._states[stamp].position
            try:
                plan.check(stamp / NANO - start, desired, measured)
            except StrayedArm:
                raise
            except ArmFault:
                if np.array_equal(desired, measured):
                    # So a node answers that damps the arm; it reports why once a second.
                    self._await_fault()
                raise

        self.pass_time(start + motion.duration + ARM.rest_time, look, check)
        record = self.record(start)
        known = np.isfinite(record.desired).all(axis=1)
        if not known.any():
            raise ArmFault('the node has answered no state of the motion')
        last = record.desired[known][-1]
        if np.abs(turned(last - motion.positions[-1])).max() > 1e-3:
            raise ArmFault(f'the node did not follow the motion to its end: {self._tell_node()}')
        return record
