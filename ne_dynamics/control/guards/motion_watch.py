"""A motion whose end nobody waits for: one that came by the topic, and its sender's silence.

The rules are those of ros2_controllers' joint trajectory controller. The tolerances are those of
goals; after the last point they count for as long as nothing else comes, where there is a goal
time. Past `cmd_timeout` the arm is held where it is found: its sender should have said more.
"""

from __future__ import annotations

from ne_dynamics.control.guards.goal import GoalCode, GoalMonitor
from ne_dynamics.control.tick import Tick
from ne_dynamics.motion.motion import Motion


class MotionWatch:
    """Watches one motion at a time, from the next state after :meth:`begin` on."""

    def __init__(self) -> None:
        self._is_watching = False
        self._monitor: GoalMonitor | None = None
        self._timeout = 0.0
        self._trajectory: Motion | None = None

    def begin(self, monitor: GoalMonitor | None, timeout: float) -> None:
        """Watch the motion that the next state finds.

        Parameters
        ----------
        monitor : GoalMonitor or None
            None: somebody else checks how closely it is followed.
        timeout : float
            Time after its last point [s]; 0 for any.
        """
        self._is_watching = monitor is not None or timeout > 0.0
        self._monitor, self._timeout, self._trajectory = monitor, timeout, None

    def end(self) -> None:
        """Watch no longer."""
        self._is_watching = False
        self._monitor = self._trajectory = None

    def observe(self, command: Tick, trajectory: Motion | None) -> str:
        """Check one state and its answer.

        Parameters
        ----------
        command : Tick
        trajectory : Motion or None
            What is followed.

        Returns
        -------
        str
            Why the arm is to be held where it is found; '' when it is not. Then the watch is
            over.
        """
        if not self._is_watching:
            return ''
        if self._trajectory is None:
            self._trajectory = trajectory
        if trajectory is None or trajectory is not self._trajectory:
            self.end()
            return ''
        late, reason = command.place - trajectory.end_time, ''
        if 0.0 < self._timeout < late:
            reason = (
                f'cmd_timeout: no new trajectory has come for {late:.3g} s after the last point; '
                f'expected within {self._timeout:g} s'
            )
        elif self._monitor is not None:
            outcome = self._monitor.observe(command, trajectory.end_time)
            if outcome is not None and outcome.code is not GoalCode.SUCCESSFUL:
                reason = f'{outcome.code.name}: {outcome.text}'
        if reason:
            self.end()
        return reason
