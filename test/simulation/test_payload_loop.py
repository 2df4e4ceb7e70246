"""What hangs on an arm is found in closed loop with MuJoCo, though much is wrong with the model.

Masses of the arm 2 % and friction twice those of the model, encoders of 16 bits, noise on the
sensor's readings. What is found is off by no more than 2.5 standard deviations, and those are
small: what doc/identification.md says.
"""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from payload_loop import LoadedArm, poses

from ne_dynamics.control.payload.carrier import PayloadSource
from ne_dynamics.control.payload.estimate import estimate_payload
from ne_dynamics.errors import PayloadError

TILTED = tuple(9.80665 * np.array([np.sin(0.4), 0.0, -np.cos(0.4)]))
COM = np.array([0.05, -0.03, 0.08])


def check(found, mass, mass_deviation, com_deviation, com=COM):
    """Require the load, known so well."""
    assert found.mass_deviation <= mass_deviation
    assert found.com_deviation.max() <= com_deviation
    assert abs(found.mass - mass) <= 2.5 * found.mass_deviation
    assert (np.abs(found.center_of_mass - com) <= 2.5 * found.com_deviation).all()


@pytest.mark.parametrize('mass', [0.5, 2.0, 5.0])
@pytest.mark.parametrize('coulomb', [0.0, 0.005], ids=['viscous', 'Coulomb'])
def test_a_slow_motion_tells_by_efforts(mass, coulomb) -> None:
    arm = LoadedArm(mass, COM, coulomb=coulomb)
    windows = arm.visit([*poses(5), poses(5)[0]], slowly=True)
    found = estimate_payload(arm.carrier, windows, PayloadSource.EFFORT)
    check(found, mass, 0.12, 0.06 if mass < 1.0 else 0.02)


@pytest.mark.parametrize('mass', [0.5, 2.0, 5.0])
@pytest.mark.parametrize('slowly', [False, True], ids=['held', 'slow'])
def test_the_wrist_sensor_tells(mass, slowly) -> None:
    arm = LoadedArm(mass, COM, coulomb=0.005, has_sensor=True)
    windows = arm.visit(poses(5), slowly=slowly)
    found = estimate_payload(arm.carrier, windows, PayloadSource.WRENCH)
    check(found, mass, 0.1, 0.03)


@pytest.mark.parametrize('has_sensor', [False, True], ids=['efforts', 'sensor'])
def test_an_arm_on_a_tilted_base(has_sensor) -> None:
    arm = LoadedArm(2.0, COM, gravity=TILTED, has_sensor=has_sensor)
    windows = arm.visit([*poses(5), poses(5)[0]], slowly=True)
    source = PayloadSource.WRENCH if has_sensor else PayloadSource.EFFORT
    check(estimate_payload(arm.carrier, windows, source), 2.0, 0.12, 0.03)


@pytest.mark.parametrize('has_sensor', [False, True], ids=['efforts', 'sensor'])
def test_one_pose_is_not_enough(has_sensor) -> None:
    arm = LoadedArm(5.0, COM, has_sensor=has_sensor)
    # Until the arm has sunk under the load that it does not know.
    arm.visit(poses(1))
    windows = arm.visit(poses(1))
    source = PayloadSource.WRENCH if has_sensor else PayloadSource.EFFORT
    with pytest.raises(PayloadError, match='do not determine'):
        estimate_payload(arm.carrier, windows, source)
