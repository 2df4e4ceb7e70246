"""What hangs on the flange, from windows that say exactly what they are: found, or refused."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ne_dynamics import Dynamics, load_model
from ne_dynamics.control.payload.carrier import Carrier, PayloadSource
from ne_dynamics.control.payload.estimate import estimate_payload
from ne_dynamics.control.payload.motion_windows import Window
from ne_dynamics.errors import ModelError, PayloadError
from ne_dynamics.model.rigid_body import Inertia, Transform
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.altered_robot import scale_masses

ARM = load_model(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
UPRIGHT = (0.0, 0.0, -9.80665)
MASS, COM = 2.0, np.array([0.05, -0.03, 0.08])
STILL = np.zeros(6)


@cache
def dynamics_of(robot=ARM, gravity=UPRIGHT):
    """Return dynamics that need no compiler."""
    return Dynamics(robot, gravity=gravity, backend='python')


def loaded(robot=ARM, mass=MASS, com=COM, link=None):
    """Return a robot with a load."""
    return robot.with_payload(Inertia(mass, np.array(com), np.zeros((3, 3))), link)


def window(time, position, velocity=STILL, acceleration=STILL, **felt):
    """Return a window of 0.2 s."""
    values = dict.fromkeys(('effort', 'command', 'wrench', 'base')) | felt
    return Window(time, 0.2, position, velocity, acceleration, *values.values())


def poses(count, seed=0):
    """Return poses of all kinds."""
    return np.random.default_rng(seed).uniform(-1.4, 1.4, (count, 6))


def held(robot, positions, gravity=UPRIGHT, rest=0.0, windows=6, **felt):
    """Return windows of poses that are held, one after the other, with an effort beside."""
    dynamics, result = dynamics_of(robot, gravity), []
    for position in positions:
        effort = dynamics.gravity_torque(position) + rest
        for _ in range(windows):
            result.append(window(0.2 * len(result), position, effort=effort, **felt))
    return result


def check(found, mass=MASS, com=COM, mass_tolerance=1e-9, com_tolerance=1e-9):
    """Require the load."""
    assert found.mass == pytest.approx(mass, abs=mass_tolerance)
    np.testing.assert_allclose(found.center_of_mass, com, atol=com_tolerance)


@pytest.mark.parametrize('gravity', [UPRIGHT, (4.0, -2.0, -8.7)], ids=['upright', 'tilted'])
@pytest.mark.parametrize('source', [PayloadSource.EFFORT, PayloadSource.COMMAND])
def test_poses_tell_the_load_exactly(gravity, source) -> None:
    """Where nothing is wrong, nothing is left: mass and centre of mass are exact."""
    windows = held(loaded(), poses(12), gravity)
    if source is PayloadSource.COMMAND:
        windows = [each._replace(command=each.effort, effort=None) for each in windows]
    carrier = Carrier.of_robot(dynamics_of(gravity=gravity))
    found = estimate_payload(carrier, windows, source)
    check(found, mass_tolerance=1e-4, com_tolerance=1e-5)
    assert found.source is source
    assert found.link_name == 'tcp'
    assert found.duration == pytest.approx(0.2 * len(windows))
    assert found.misfit < 1e-3
    assert '2.000 +- ' in found.text


# ---- what is wrong with the arm


@pytest.mark.kept(2)
@pytest.mark.parametrize('seed', range(8))
def test_the_uncertainty_is_honest(seed) -> None:
    """Stiction of either sign in each pose, a model 2 % wrong: off by no more than 2.5 sigma."""
    rng = np.random.default_rng([seed, 3])
    heavier = scale_masses(ARM, 1.02)
    stiction = 0.005 * ARM.limits('effort_limit')
    windows = []
    for position in poses(14, seed):
        windows += held(loaded(heavier), [position], rest=stiction * rng.uniform(-1, 1, 6))
    found = estimate_payload(Carrier.of_robot(dynamics_of()), windows, PayloadSource.EFFORT)
    assert abs(found.mass - MASS) <= 2.5 * found.mass_deviation
    assert (np.abs(found.center_of_mass - COM) <= 2.5 * found.com_deviation).all()


# ---- refusals


def refusal(windows, source=PayloadSource.EFFORT, carrier=None):
    """Return why there is no estimate."""
    carrier = Carrier.of_robot(dynamics_of()) if carrier is None else carrier
    with pytest.raises(PayloadError) as caught:
        estimate_payload(carrier, windows, source)
    return str(caught.value)


def test_a_pose_does_not_tell_the_centre_of_mass_along_gravity() -> None:
    """The component that is not known is named by the axis of the link, and by its size."""
    position = np.array([0.3, -0.9, 1.1, 0.0, -0.2, 0.0])
    rotation = dynamics_of().forward_kinematics(position)[:3, :3]
    vertical = rotation.T @ np.array([0.0, 0.0, 1.0])
    robot = replace(
        ARM,
        links=tuple(
            replace(link, pose_in_body=link.pose_in_body @ _turn_z_to(vertical))
            if link.name == 'tcp'
            else link
            for link in ARM.links
        ),
    )
    windows = held(loaded(robot, 8.0), [position])
    text = refusal(windows, carrier=Carrier.of_robot(dynamics_of(robot)))
    assert 'the poses do not determine the centre of mass along z (+- ' in text
    assert ' and ' not in text
    assert 'the mass is known: 8.0' in text


def _turn_z_to(axis):
    """Return a rotation that takes z to an axis."""
    x = np.cross(axis, [0.3, 0.8, 0.5])
    x = x / np.linalg.norm(x)
    return Transform(np.column_stack([x, np.cross(axis, x), axis]), np.zeros(3))


@pytest.mark.parametrize(
    ('factor', 'masses'),
    [
        *((factor, 1.0) for factor in (-1.0, 0.1, 0.0, 0.5, 1.5, 30.0)),
        *((1.0, masses) for masses in (0.7, 0.8, 1.2, 1.3)),
    ],
)
def test_efforts_of_another_meaning_or_model_are_refused(factor, masses) -> None:
    """Of the other sign, in another unit, without gravity, or of an arm that the model does not
    know, they fit no load.
    """
    windows = held(loaded(scale_masses(ARM, masses)), poses(12))
    windows = [each._replace(effort=factor * each.effort + 1e-9) for each in windows]
    assert "a load fits only if the model's own effort of joint" in refusal(windows)


@pytest.mark.parametrize('value', [np.nan, np.inf, 1e300])
@pytest.mark.parametrize('field', ['effort', 'position'])
def test_numbers_that_are_none_are_refused(field, value) -> None:
    """NaN, infinity and what overflows end in a refusal, not in an estimate."""
    windows = held(loaded(), poses(12))
    broken = np.array(getattr(windows[7], field))
    broken[2] = value
    windows[7] = windows[7]._replace(**{field: broken})
    with pytest.raises((PayloadError, ModelError, ValueError)):
        estimate_payload(Carrier.of_robot(dynamics_of()), windows, PayloadSource.EFFORT)


def test_what_is_no_load_at_rest_is_refused() -> None:
    """Fast, too short, two loads in turns, a negative mass, and somebody who leans on the arm."""
    fast = [each._replace(velocity=np.eye(6)[2] * 0.8) for each in held(loaded(), poses(20))]
    assert "'joint_3' is 0.8" in refusal(fast)
    assert 'no states with measured efforts yet' in refusal([])
    assert 'got 0.4 s' in refusal(held(loaded(), poses(1))[:2])
    in_turns = [*held(loaded(mass=8.0), poses(6)), *held(ARM, poses(6, 1))]
    assert 'the fit leaves too much' in refusal(in_turns)
    with_tool = Carrier.of_robot(dynamics_of(loaded(mass=3.0, com=np.zeros(3))))
    negative = refusal(held(ARM, poses(12)), carrier=with_tool)
    assert 'is not possible: is the model too heavy' in negative
    leaning = refusal(held(loaded(com=[1.2, 0.0, 0.6]), poses(24)))
    assert 'is farther away than' in leaning
    assert 'do not determine the mass' in refusal(held(loaded(mass=0.3), poses(1)))
