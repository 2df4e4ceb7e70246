"""Derivatives of efforts with respect to the constants of a mechanism."""

from dataclasses import replace

import numpy as np
import pytest
from test_mechanism import REVOLUTE, chain, tree_robot

from ne_dynamics.algorithms.mechanism import build_mechanism
from ne_dynamics.algorithms.newton_euler import newton_euler
from ne_dynamics.algorithms.scalars.sensitivity import EffortSensitivity

STEP = 1e-6


class Recorded(EffortSensitivity):
    """A sensitivity that keeps the positions, rates and accelerations of its motions."""

    def __init__(self, bodies, n):
        super().__init__(bodies, n, 1.0, np.eye(3))
        self.samples = self.scales.shape[1]
        self.motions = np.random.default_rng(0).uniform(-1.0, 1.0, (3, n, self.samples))


def efforts(mechanism, bodies, sensitivity):
    """Return the recursion's efforts at the motions of a sensitivity, (n, motions)."""
    q, qd, qdd = sensitivity.motions.copy()
    units = np.ones((mechanism.n, 1))
    for body in mechanism.bodies:
        if not body.is_prismatic:
            units[body.coordinate] = np.pi
    base_rate = sensitivity._rates[-1]
    base_acceleration = sensitivity._accelerations[-1]
    motion = [base_rate[:, k] for k in range(3)]
    motion += [base_acceleration[:, k] for k in range(6)]
    replaced = replace(
        mechanism,
        bodies=tuple(bodies),
        base_pose=type(mechanism.base_pose).identity(),
    )
    zero = np.zeros(sensitivity.samples)
    return np.array(
        newton_euler(
            replaced,
            list(units * q),
            list(qd),
            list(qdd),
            gravity=[zero, zero, zero],
            base_motion=motion,
            joint_effects=False,
        )
    )


def turned(pair, angle):
    """Return the pair of an angle that is larger."""
    c, s = np.cos(angle), np.sin(angle)
    return float(pair[0] * c - pair[1] * s), float(pair[1] * c + pair[0] * s)


def robots():
    """Return a chain and trees whose mimic joints are of their source's type."""
    yield chain(3, (REVOLUTE,) * 4, 1.0)
    for seed in range(12):
        robot = tree_robot(seed, 7)
        kinds = {}
        for body in robot.bodies:
            kinds.setdefault(body.coordinate, set()).add(body.joint_type.is_prismatic)
        if all(len(kind) == 1 for kind in kinds.values()):
            yield robot


@pytest.mark.kept(3)
@pytest.mark.parametrize('robot', list(robots()), ids=lambda robot: robot.name)
def test_derivatives_are_those_of_the_recursion(robot):
    mechanism = build_mechanism(robot, 0.0, regroup=False)
    bodies = list(mechanism.bodies)
    sensitivity = Recorded(bodies, robot.n)
    plain = efforts(mechanism, bodies, sensitivity)
    scale = np.abs(plain).max()
    np.testing.assert_allclose(sensitivity._efforts, plain, rtol=0, atol=1e-12 * scale)

    def difference(index, change):
        sides = []
        for step in (STEP, -STEP):
            changed = list(bodies)
            changed[index] = change(bodies[index], step)
            sides.append(efforts(mechanism, changed, sensitivity))
        return (sides[0] - sides[1]) / (2.0 * STEP)

    def moment(field, k):
        def change(body, step):
            values = list(getattr(body.inertia, field))
            values[k] += step
            return replace(body, inertia=replace(body.inertia, **{field: tuple(values)}))

        return change

    def shifted(k):
        def change(body, step):
            values = list(body.position)
            values[k] += step
            return replace(body, position=tuple(values))

        return change

    def angle(field):
        return lambda body, step: replace(body, **{field: turned(getattr(body, field), step)})

    units = np.eye(9).tolist()
    zero = [0.0, 0.0, 0.0]
    for index, body in enumerate(bodies):
        cases = []
        axes = {'turn': [0.0, 0.0, 1.0], 'twist': [*body.turn, 0.0], 'spin': body.tilt[:, 2]}
        for field, axis in axes.items():
            effect = sensitivity.compute_displacement_effect(index, axis, zero)
            cases.append((effect, difference(index, angle(field))))
        for k in range(3):
            effect = sensitivity.compute_displacement_effect(index, zero, units[k][:3])
            cases.append((effect, difference(index, shifted(k))))
            effect = sensitivity.compute_inertia_effect(index, units[k][:3], [0.0] * 6)
            cases.append((effect, difference(index, moment('first_moment', k))))
        for k in range(6):
            effect = sensitivity.compute_inertia_effect(index, zero, units[k][:6])
            cases.append((effect, difference(index, moment('second_moments', k))))
        for effect, expected in cases:
            np.testing.assert_allclose(effect, expected, rtol=0, atol=1e-7 * scale)
