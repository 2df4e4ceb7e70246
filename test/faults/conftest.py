"""Benches with processes that are shared by the rows of a file."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import Any

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


@pytest.fixture(scope='module')
def hold_an_arm(make_bench: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that starts node and simulated robot, and lets the arm be held.

    Called with parameters of both, and with what is to be done before they start, and before
    the brake is released.
    """
    pytest.importorskip('mujoco', reason='MuJoCo is not installed: pip install "ne_dynamics[sim]"')

    def hold(
        node: dict[str, Any] | None = None,
        robot: dict[str, Any] | None = None,
        begin: Callable[[Any], None] | None = None,
        prepare: Callable[[Any], None] | None = None,
    ) -> Any:
        bench = make_bench()
        if begin is not None:
            begin(bench)
        bench.start_robot(**(robot or {}))
        # A busy machine may keep a process waiting for longer than the default of 0.1 s. The rows
        # of a file break one arm, one after the other, more often than faults may come back.
        usual = {'state_timeout': 2.0, 'repeated_faults.window': 0.0}
        bench.start_node(**{**usual, **(node or {})})
        bench.until_ready()
        if prepare is not None:
            prepare(bench)
        bench.until_held()
        return bench

    return hold


@pytest.fixture(scope='module')
def module_arm(hold_an_arm: Callable[..., Any]) -> Iterator[Any]:
    """Return the bench with an arm that is held, and end the node as it is to end."""
    bench = hold_an_arm()
    yield bench
    bench.check()
    bench.node.end(signal.SIGINT)


@pytest.fixture
def arm(module_arm: Any) -> Iterator[Any]:
    """Return the bench with the arm at rest at its `base`; check all commands afterwards."""
    bench = module_arm
    bench.until_rest()
    bench.base = bench.held_at
    yield bench
    bench.check()
