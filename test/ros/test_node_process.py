"""The executable as a process: started by arguments, ended by signals, the arm left held."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest

from ne_dynamics.simulation.demo.ros_process import ROBOT_MODULE

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])


@pytest.mark.kept(1)
@pytest.mark.parametrize('what', ['the node', 'the simulated robot'])
def test_signals_that_keep_coming_are_ignored_once_it_stops(bench, process, what: str) -> None:
    """One SIGINT after the other, 10 ms apart, until the end: the exit code is 0 all the same."""
    if what == 'the node':
        child = process(model_file=bench.model_file, backend='python')
        bench.spin(lambda: bench.joint_states.get_subscription_count() > 0, what)
    else:
        pytest.importorskip('mujoco', reason='MuJoCo is not installed')
        child = process(ROBOT_MODULE, model_file=bench.model_file, rate=100.0)
        commands = 'effort_controller/commands'
        bench.spin(lambda: bench.probe.count_subscribers(commands) > 1, what)
    for _ in range(2000):
        child.send(signal.SIGINT)
        time.sleep(0.01)
        if not child.is_alive:
            break
    assert child.wait(120.0) == 0, child.output
    assert 'Traceback' not in child.output


def test_it_keeps_answering_through_cleanup_and_configure(bench, process) -> None:
    """Subscriptions that go and come again are served, beside services and parameters."""
    child = process(model_file=bench.model_file, backend='python', state_timeout=60.0)
    for _ in range(2):
        bench.spin(lambda: bench.joint_states.get_subscription_count() > 0, 'the node')
        before = len(bench.commands)

        def answered(before: int = before) -> bool:
            bench.joint_states.publish(bench.joint_state(Q))
            return len(bench.commands) > before + 5

        bench.spin(answered, 'commands')
        assert bench.trigger('hold').success
        closed = bench.set_atomically(mode='feedforward', feedforward__robot_closes_loop=True)
        assert closed.successful, closed.reason
        before = len(bench.commands)
        bench.spin(lambda before=before: answered(before), 'commands of another mode')
        assert bench.change_state('deactivate')
        assert bench.change_state('cleanup')
        bench.spin(lambda: bench.joint_states.get_subscription_count() == 0, 'silence')
        assert bench.state == 'unconfigured'
        assert bench.change_state('configure')
        assert bench.change_state('activate')
    before = len(bench.diagnostics)
    bench.spin(lambda: len(bench.diagnostics) > before, 'diagnostics')
    child.send(signal.SIGTERM)
    bench.spin(lambda: not child.is_alive, 'the end')
    assert child.child.returncode == 0, child.output
