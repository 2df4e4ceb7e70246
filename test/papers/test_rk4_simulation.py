"""The four-point Runge-Kutta simulation: its order, and what it conserves."""

from __future__ import annotations

import numpy as np
import orthogonal_complement
import pytest
from arm_energies import kinetic_energy, potential_energy
from arm_motion import arm_acceleration
from formulation_cases import GRAVITY

from ne_dynamics.model.robot import Inertia
from ne_dynamics.papers.forms.arm import Arm, DHLink
from ne_dynamics.papers.forms.random_arms import random_arm
from ne_dynamics.papers.forms.rk4 import runge_kutta_step, simulate


def conserving_arm():
    """Return a three-joint arm without friction that swings at moderate rates."""
    tensor = np.array([[0.05, 0.004, 0.002], [0.004, 0.06, -0.003], [0.002, -0.003, 0.04]])
    inertia = Inertia(2.0, np.array([-0.2, 0.03, 0.05]), tensor)
    rows = [
        DHLink(d=0.3, a=0.1, alpha=0.5 * np.pi, inertia=inertia),
        DHLink(a=0.4, alpha=0.3, inertia=inertia),
        DHLink(a=0.3, alpha=-0.8, offset=0.4, inertia=inertia),
    ]
    return Arm('standard', tuple(rows))


def swing(steps, forward_dynamics=None, duration=0.2):
    """Return the free swing of the arm, sampled at every step."""
    arm = conserving_arm()
    options = {} if forward_dynamics is None else {'forward_dynamics': forward_dynamics}
    return simulate(
        arm_acceleration(arm, gravity=GRAVITY, **options),
        [0.3, -0.5, 0.8],
        [0.5, -1.0, 0.7],
        step=duration / steps,
        steps=steps,
    )


def energy(arm, q, qd):
    """Return the total energy [J]."""
    q, qd = q.tolist(), qd.tolist()
    potential = potential_energy(arm, q, gravity=GRAVITY)
    return kinetic_energy(arm, q, qd) + potential


def test_halving_the_step_divides_the_error_by_sixteen():
    """The end state converges with the fourth power of the step."""
    fine = swing(400)
    reference = np.concatenate([fine.q[-1], fine.qd[-1]])
    errors = []
    for steps in (25, 50, 100):
        run = swing(steps)
        errors.append(np.abs(np.concatenate([run.q[-1], run.qd[-1]]) - reference).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx([4.0, 4.0], abs=0.1)


def test_energy_drift_falls_with_the_fourth_power_of_the_step():
    """Without friction and drive the energy stays, but for a drift of order four or better."""
    arm = conserving_arm()
    drifts = []
    for steps in (25, 50, 100):
        run = swing(steps, duration=0.4)
        energies = [energy(arm, q, qd) for q, qd in zip(run.q, run.qd, strict=True)]
        drifts.append(np.abs(np.array(energies) - energies[0]).max())
    orders = np.log2(np.array(drifts[:-1]) / drifts[1:])
    assert (orders > 3.7).all()
    kinetic = [
        kinetic_energy(arm, q.tolist(), qd.tolist()) for q, qd in zip(run.q, run.qd, strict=True)
    ]
    assert drifts[-1] < 1e-6 * np.ptp(kinetic)


def test_the_orthogonal_complement_simulates_the_same_motion():
    """With another forward dynamics the same motion comes out to round-off."""
    ours, other = swing(40), swing(40, orthogonal_complement.forward_dynamics)
    assert np.abs(ours.q - other.q).max() < 1e-11
    assert np.abs(ours.qd - other.qd).max() < 1e-10


def test_energy_grows_by_the_work_of_the_drives():
    """With efforts and viscous friction the energy gained is the work done."""
    arm = random_arm(np.random.default_rng(6), 2, base_and_tool=False)
    viscous = np.array([link.viscous_friction for link in arm.links])

    def effort(time, q, qd):
        return [4.0 * np.cos(3.0 * time), -2.0 + q[0]]

    steps, step = 400, 1e-3
    run = simulate(
        arm_acceleration(arm, effort, gravity=GRAVITY),
        [0.2, -0.3],
        [0.1, 0.2],
        step=step,
        steps=steps,
    )
    power = [
        np.dot(effort(t, q, qd) - viscous * qd, qd)
        for t, q, qd in zip(run.time, run.q, run.qd, strict=True)
    ]
    work = (
        step / 3.0 * (power[0] + power[-1] + 4.0 * sum(power[1:-1:2]) + 2.0 * sum(power[2:-1:2]))
    )
    gained = energy(arm, run.q[-1], run.qd[-1]) - energy(arm, run.q[0], run.qd[0])
    assert gained == pytest.approx(work, rel=1e-7)


def test_one_step_of_a_polynomial_is_exact():
    """A rate that is a cubic in time is integrated without error: Simpson's rule."""
    stepped = runge_kutta_step(lambda t, y: [4.0 * t**3 - t], 0.5, [1.0], 0.25)
    exact = 1.0 + (0.75**4 - 0.5**4) - 0.5 * (0.75**2 - 0.5**2)
    assert stepped == [pytest.approx(exact, rel=1e-14)]
