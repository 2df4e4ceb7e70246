"""What is left of a run that was killed: a process beside it, which leaves the arm safely.

A run that ends by itself holds the arm, engages the brakes and ends its node; one that is killed
(SIGKILL, out of memory) cannot, and its node would follow the motion to its end and run for ever.
The watchdog waits for the end of a pipe. Where no farewell came before, it lets the node stop
along its motion and hold. A simulated arm gets its brakes, and all processes end. An arm that is
there is held on, for whoever engages its brakes, and the node ends with its last command after a
time.

The file is run as a script, and until then imports nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

HELD_FOR = 600.0
"""How long an arm is held whose run was killed [s]."""

ANSWER_TIME = 5.0
"""Longest wait for an answer of node or arm [s]."""

END_TIME = 10.0
"""Longest wait for the end of a process, before it is killed [s]."""

FAREWELL = 'farewell'


class Watchdog:
    """The watchdog, as its run sees it; a context.

    ROS domain and namespace are those of arm and node; a simulated arm has brakes that can be
    engaged, another one is held for some time [s].
    """

    def __init__(
        self, domain: int, namespace: str, is_simulated: bool, held_for: float = HELD_FOR
    ) -> None:
        words = (namespace, str(int(is_simulated)), str(held_for))
        self.child = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), *words],
            env={**os.environ, 'ROS_DOMAIN_ID': str(domain)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )

    def __enter__(self) -> Watchdog:
        return self

    def __exit__(self, *_: object) -> None:
        self._say(FAREWELL)
        if self.child.stdin is not None:
            with contextlib.suppress(OSError):
                self.child.stdin.close()
        self.child.wait()

    def guard(self, processes: Iterable[int]) -> None:
        """Say which processes are to end with the run, the node first."""
        self._say(json.dumps(list(processes)))

    def _say(self, line: str) -> None:
        stdin = self.child.stdin
        if stdin is not None:
            # A watchdog that is gone guards nothing; the run goes on.
            with contextlib.suppress(OSError):
                stdin.write(line + '\n')
                stdin.flush()


class _Process:
    """A process of the run; where there are none of Linux's handles, by its number alone."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._handle: int | None = None
        with contextlib.suppress(AttributeError, OSError):
            self._handle = os.pidfd_open(number)

    def send(self, kind: int) -> bool:
        """Send a signal, 0 for none; return whether the process is there."""
        try:
            if self._handle is not None:
                signal.pidfd_send_signal(self._handle, kind)
            else:
                os.kill(self.number, kind)
        except OSError:
            return False
        return True

    def end(self) -> None:
        """Ask it to end, and see that it does."""
        self.send(signal.SIGINT)
        deadline = time.monotonic() + END_TIME
        while self.send(0):
            if time.monotonic() > deadline:
                self.send(signal.SIGKILL)
                return
            time.sleep(0.05)


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(f'commission was killed: {text}\n')
        sys.stderr.flush()


def _stop_arm(namespace: str, is_simulated: bool) -> None:
    """Let the node stop and hold, and engage the brakes where they are simulated."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions
    from std_srvs.srv import Trigger
    from trajectory_msgs.msg import JointTrajectory

    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('commission_watchdog', namespace=namespace)
    # An empty trajectory and the service: each of them stops the motion.
    publisher = node.create_publisher(JointTrajectory, 'joint_trajectory', 10)

    def call(service: str, done: str) -> None:
        client = node.create_client(Trigger, service)
        if not client.wait_for_service(timeout_sec=ANSWER_TIME):
            _say(f'{service} does not answer')
            return
        publisher.publish(JointTrajectory())
        answer = client.call_async(Trigger.Request())
        rclpy.spin_until_future_complete(node, answer, timeout_sec=ANSWER_TIME)
        _say(done if answer.done() else f'{service} does not answer')

    call('computed_torque/hold', 'the node stops along its motion, and holds')
    if is_simulated:
        call('simulated_robot/engage_brake', 'brakes engaged')
    node.destroy_node()
    rclpy.shutdown()


def _hold_on(node: _Process, held_for: float) -> None:
    _say(
        f'the node holds the arm for {held_for:g} s, then it ends: engage the brakes or support '
        f'the arm; `kill -INT {node.number}` ends it before'
    )
    deadline = time.monotonic() + held_for
    while node.send(0) and time.monotonic() < deadline:
        time.sleep(0.2)


def _read_to_the_end() -> tuple[list[_Process], bool]:
    """Return the processes that are left, and whether a farewell came."""
    guarded: dict[int, _Process] = {}
    for line in sys.stdin:
        if line.strip() == FAREWELL:
            return [], True
        numbers: list[int] = json.loads(line)
        guarded = {number: guarded.get(number) or _Process(number) for number in numbers}
    return list(guarded.values()), False


def main(words: list[str]) -> int:
    """Wait for the end of the run, see the module's docstring; return 0.

    The words are the namespace, whether the arm is simulated (0 or 1), how long it is held [s].
    """
    namespace, is_simulated, held_for = words[0], words[1] == '1', float(words[2])
    processes, is_over = _read_to_the_end()
    left = [process for process in processes if process.send(0)]
    if is_over or not left:
        return 0
    try:
        _stop_arm(namespace, is_simulated)
    except Exception as error:  # whatever it is, the processes are to end
        _say(f'the arm cannot be reached: {error!r}')
    if not is_simulated:
        _hold_on(left[0], held_for)
    for process in left:
        process.end()
    _say('its processes have ended')
    return 0


def _forget_folder() -> None:
    """Let the modules beside this file be no modules of the top level."""
    folder = str(Path(__file__).resolve().parent)
    sys.path[:] = [place for place in sys.path if str(Path(place or '.').resolve()) != folder]


if __name__ == '__main__':
    _forget_folder()
    sys.exit(main(sys.argv[1:]))
