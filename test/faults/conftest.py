"""Benches with processes that are shared by the rows of a file.

A file says in `NODE` or `ARM` what its bench is made of, and in `RESET` what each row begins with.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest


@pytest.fixture(scope='module')
def make_bench() -> Iterator[Callable[..., Any]]:
    """Return a function that makes a bench; see :class:`fault_bench.FaultBench`."""
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
    from fault_bench import FaultBench

    from ne_dynamics.simulation.demo.ros_process import local_discovery

    with local_discovery():
        benches = []

        def make(**arguments: Any) -> FaultBench:
            bench = FaultBench(**arguments)
            benches.append(bench)
            return bench

        yield make
        for bench in benches:
            bench.close()


# ---- a node, and a test that plays its robot


@pytest.fixture(scope='module')
def node(make_bench: Callable[..., Any], request: pytest.FixtureRequest) -> Iterator[Any]:
    bench = make_bench()
    bench.start_node(**request.module.NODE)
    bench.until_ready()
    yield bench
    bench.check()
    bench.node.end(signal.SIGINT)


@pytest.fixture
def player(node: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Return a player of the robot, whose arm rests at POSTURE and is held there."""
    from fault_bench import POSTURE, Player

    reset = getattr(request.module, 'RESET', {})
    node.set(**reset)
    if node.state == 'active':
        assert node.change_state('deactivate')
    player = Player(node, **getattr(request.module, 'PLAYER', {}))
    node.left_at = None
    assert node.change_state('activate')
    np.testing.assert_allclose(player.rest(POSTURE), node.gravity(POSTURE), atol=1e-9)
    yield player
    node.set(**reset)
    node.check()


# ---- an arm in MuJoCo


@pytest.fixture(scope='module')
def module_arm(make_bench: Callable[..., Any], request: pytest.FixtureRequest) -> Iterator[Any]:
    """Return the bench with an arm that is held, and end the node as it is to end.

    `ARM` has the parameters of `node` and `robot`.
    """
    pytest.importorskip('mujoco', reason='MuJoCo is not installed: pip install "ne_dynamics[sim]"')
    chosen = getattr(request.module, 'ARM', {})
    bench = make_bench()
    bench.start_robot(**chosen.get('robot', {}))
    # A busy machine may keep a process waiting for longer than the default of 0.1 s. The rows
    # of a file break one arm, one after the other, more often than faults may come back.
    usual = {'state_timeout': 2.0, 'repeated_faults.window': 0.0}
    bench.start_node(**{**usual, **chosen.get('node', {})})
    bench.until_ready()
    bench.until_held()
    yield bench
    bench.check()
    if bench.node.is_alive:
        bench.node.end(signal.SIGINT)


@pytest.fixture
def arm(module_arm: Any) -> Iterator[Any]:
    bench = module_arm
    bench.until_rest()
    bench.base = bench.held_at
    yield bench
    bench.check()
