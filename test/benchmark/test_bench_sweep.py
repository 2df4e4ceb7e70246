"""The process that uses many robots: what it calls, and that its robots differ."""

from __future__ import annotations

import inspect

import numpy as np

import ne_dynamics as ned
from benchmark import sweep_probe
from ne_dynamics.papers import robots
from ne_dynamics.shipped import shipped_file


def test_every_method_is_called_single_and_in_batches(monkeypatch):
    """No method that computes from arrays is forgotten, for one sample or for many."""
    methods = {
        name
        for name, method in inspect.getmembers(ned.Dynamics, inspect.isfunction)
        if not name.startswith('_') and 'out' in inspect.signature(method).parameters
    }
    called = set()

    class Recorder(ned.Dynamics):
        def __getattribute__(self, name):
            found = super().__getattribute__(name)
            if name not in methods:
                return found

            def record(*arguments, **keywords):
                called.add((name, np.ndim(arguments[0])))
                return found(*arguments, **keywords)

            return record

    monkeypatch.setattr(sweep_probe.ned, 'Dynamics', Recorder)
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='upper_arm')
    sweep_probe.call_every_method(robot, 'python', ((), (3,)))
    assert called == {(name, dimensions) for name in methods for dimensions in (1, 2)}


def test_scaled_masses_make_another_robot():
    """All efforts of gravity grow with the masses; the robot that they come from stays."""
    robot = robots.chain(4)
    q = np.linspace(0.1, 0.4, 4)
    before = ned.Dynamics(robot, backend='python').gravity_torque(q)
    heavier = sweep_probe.scale_masses(robot, 1.5)
    after = ned.Dynamics(heavier, backend='python').gravity_torque(q)
    np.testing.assert_allclose(after, 1.5 * before, rtol=1e-12)
    assert robot.links[1].inertia.mass == robots.chain(4).links[1].inertia.mass
