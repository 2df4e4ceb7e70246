"""What happens when the network between node and robot is cut: run inside the node's namespace.

    ip netns exec NODE python network_scenario.py ROBOT LINK

LINK is the interface of the namespace ROBOT that is taken down and up again.
"""

from __future__ import annotations

import signal
import subprocess
import sys

import numpy as np
from fault_bench import FaultBench

HANGING = np.array([0.0, 2.74, -1.05, -0.48, 0.3, 0.0])
"""A posture from which the arm does not fall when its effort stays what it is [rad]."""

REST = [0.0] * 6

PATIENT = 60.0
"""state_timeout while the network is whole [s]."""


def holds_against_gravity(bench: FaultBench) -> bool:
    """Return whether the last command does, where the arm was when it was answered last."""
    answered = bench.answers[-1].stamp
    # The one that was answered last may not have come through to here.
    nearest = min(bench.states, key=lambda state: abs(state.stamp - answered))
    later = 1e-9 * (answered - nearest.stamp)
    position = nearest.position + later * nearest.velocity
    return np.allclose(bench.commands[-1].effort, bench.gravity(position), rtol=0.0, atol=0.01)


def is_left_with_gravity(bench: FaultBench) -> bool:
    """Return whether the last command holds the arm, and none has come after it for a while."""
    before = len(bench.commands)
    bench.settle()
    return holds_against_gravity(bench) and len(bench.commands) == before


def main() -> None:
    """Cut the link in the middle of a motion, join it again, and check what the node does."""
    robot, link = sys.argv[1:]
    bench = FaultBench(wired=False)
    try:
        bench.start_robot(prefix=['ip', 'netns', 'exec', robot], initial_position=HANGING.tolist())
        # Busy machines wait: only the cut may be a silence.
        bench.start_node(state_timeout=PATIENT, on_state_loss='gravity')
        bench.until_ready()
        bench.until_held()
        print('held over UDP')
        mark = bench.mark()
        bench.trajectories.publish(bench.trajectory((4.0, HANGING + 0.2, REST, REST)))
        bench.until(lambda: np.any(bench.answers[-1].velocity > 0.03), 'motion')

        set_link(robot, link, 'down')
        bench.set(state_timeout=0.5)
        bench.until_fault('joint_states stopped', since=mark)
        bench.until(lambda: is_left_with_gravity(bench), 'left with gravity')
        last = bench.commands[-1].effort
        left = bench.mark()
        bench.until_diagnosed(lambda record: True, left, 'any')
        assert len(bench.commands) == left.commands, 'commands while no state comes'
        print('cut off: left with gravity, an error, silence')

        bench.set(state_timeout=PATIENT)
        before = bench.states[-1]
        set_link(robot, link, 'up')
        bench.until_answering(20)
        first = bench.answers[left.answers]
        state = next(state for state in bench.states if state.stamp == first.stamp)
        np.testing.assert_allclose(first.position, state.position, atol=1e-9)
        np.testing.assert_allclose(first.velocity, state.velocity, atol=1e-2)
        np.testing.assert_array_equal(first.effort, last)
        returned = bench.states[left.states]
        assert returned.stamp - before.stamp > 500_000_000, 'the robot went on meanwhile'
        # The motors kept a command of before the cut: the last one that came through.
        kept = np.array([record.effort for record in bench.commands[: left.commands]])
        assert np.abs(kept - returned.effort).max(axis=1).min() < 1e-9
        bench.until_rest()
        way = np.abs(bench.held_at - first.position)
        assert (way <= 0.1 * np.abs(first.velocity) + 1e-9).all(), way
        bench.check()
        print('joined again: held where it was measured to be')

        goal = HANGING
        # As far as the arm was carried on while it was cut off.
        duration = 0.5 + 2.0 * float(np.abs(goal - bench.held_at).max())
        bench.trajectories.publish(bench.trajectory((duration, goal, REST, REST)))
        bench.until(lambda: np.array_equal(bench.held_at, goal), 'the next motion')
        bench.check()
        bench.node.end(signal.SIGINT)
        print('and it follows the next trajectory')
    finally:
        bench.close()


def set_link(namespace: str, link: str, state: str) -> None:
    """Take an interface of a network namespace up or down."""
    subprocess.run(['ip', '-n', namespace, 'link', 'set', link, state], check=True)


if __name__ == '__main__':
    main()
