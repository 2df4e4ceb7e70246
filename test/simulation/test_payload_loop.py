"""What hangs on an arm is found in closed loop with MuJoCo, though much is wrong with the model.

Masses of the arm 2 % and friction twice those of the model, encoders of 16 bits, noise on the
sensor's readings. What is found is off by no more than 2.5 standard deviations, and those are
small: what doc/identification.md says.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from motion_loop import HeldArmLoop, shipped_arm, with_coulomb

from ne_dynamics import Dynamics
from ne_dynamics.control.payload.carrier import Carrier, PayloadSource
from ne_dynamics.control.payload.estimate import estimate_payload
from ne_dynamics.control.payload.motion_windows import MeasuredState, MotionWindows, Window
from ne_dynamics.control.sensors.wrench import inertia_beyond
from ne_dynamics.errors import PayloadError
from ne_dynamics.simulation.altered_robot import scale_friction, scale_masses, with_hung_mass
from ne_dynamics.simulation.demo.motion import rest_to_rest
from ne_dynamics.simulation.one_process_loop import encoder

ARM = shipped_arm()
SENSOR = 'ft_sensor'
UPRIGHT = (0.0, 0.0, -9.80665)
POSTURE = np.array([0.3, -0.6, 0.7, 0.4, 0.7, -0.5])
PERIOD = 0.004
"""Of the control loop [s]; the estimate looks at states that are farther apart."""

HELD, WAY, SLOW = 1.6, 2.0, 0.25
"""Time for which a pose is held, time from one to the next [s], mean speed of a slow motion
[rad/s]."""

NOISE = np.array([0.5] * 3 + [0.02] * 3)
"""Standard deviation of the sensor's readings [N, N m]."""

PARAMETERS: dict[str, Any] = {
    'following_error.position': (0.0,),
    'following_error.velocity': (0.0,),
    'following_error.frozen': (0.0,),
    'computed_torque.kp': (400.0,),
    'computed_torque.kv': (40.0,),
    'backend': 'auto',
}
"""The load is not known: until it is, the motion is not followed well."""


def poses(count: int, seed: int = 0) -> list[np.ndarray]:
    """Return poses within 0.8 rad of the posture, which is the first."""
    rng = np.random.default_rng(seed)
    return [POSTURE, *(POSTURE + rng.uniform(-0.8, 0.8, 6) for _ in range(count - 1))]


class LoadedArm:
    """The shipped arm with masses 2 % and friction twice those of the model, and a load.

    The mass [kg] is at `com` in the frame of the tcp [m]. Coulomb friction of the model is a share
    `coulomb` of the effort limits, of which the arm has twice; `scale` are its masses by those of
    the model.
    """

    def __init__(
        self,
        mass: float,
        com: Any,
        *,
        coulomb: float = 0.0,
        gravity: Any = UPRIGHT,
        has_sensor: bool = False,
        scale: float = 1.02,
    ) -> None:
        self.model = with_coulomb(ARM, coulomb)
        self._gravity = gravity
        self._windows = MotionWindows()
        self._noise = np.random.default_rng(1)
        plant = with_coulomb(scale_friction(scale_masses(ARM, scale), 2.0), 2.0 * coulomb)
        if mass:
            plant = with_hung_mass(plant, mass, com)
        changes = {**PARAMETERS, 'gravity': tuple(gravity)}
        if has_sensor:
            changes |= {
                'wrench.enabled': True,
                'wrench.sensor_link': SENSOR,
                'wrench.gain': 0.9,
            }
        self._has_sensor = has_sensor
        link = SENSOR if has_sensor else None
        self._loop = HeldArmLoop(
            self.model,
            POSTURE,
            changes,
            plant=plant,
            body={'period': PERIOD, 'gravity': gravity, 'sensor_link': link},
            sensors=[encoder(16)],
        )
        self._answer = self._loop.law
        self._loop.law = self._felt

    def _felt(self, reading: Any) -> Any:
        answer = self._answer(reading)
        if self._windows.wants(reading.time):
            wrench = None
            if reading.wrench is not None:
                wrench = reading.wrench + self._noise.normal(0.0, NOISE)
            self._windows.add(
                MeasuredState(
                    reading.time, reading.position, reading.effort, answer.effort, wrench
                )
            )
        return answer

    def visit(self, places: list[np.ndarray], *, slowly: bool = False) -> tuple[Window, ...]:
        """Hold poses one after the other, or pass through them slowly; return what was felt."""
        self._loop.run(HELD)
        for start, end in itertools.pairwise(places):
            duration = float(np.abs(end - start).max()) / SLOW if slowly else WAY
            self._loop.controller.motion.follow(
                rest_to_rest(ARM, start, end, duration).waypoints()
            )
            self._loop.run(duration if slowly else duration + HELD)
        return self._windows.windows()

    @property
    def carrier(self) -> Carrier:
        """The model without the load."""
        if not self._has_sensor:
            return Carrier.of_robot(Dynamics(self.model, self._gravity, backend='python'))
        cut, tip = self.model.link(SENSOR), self.model.tip
        return Carrier(
            Dynamics(self.model.cut_beyond(SENSOR), self._gravity, backend='python'),
            tip.name,
            cut.pose_in_body.inverse() @ tip.pose_in_body,
            inertia_beyond(self.model, SENSOR),
        )


TILTED = tuple(9.80665 * np.array([np.sin(0.4), 0.0, -np.cos(0.4)]))
COM = np.array([0.05, -0.03, 0.08])


def check(found, mass, mass_deviation, com_deviation, com=COM):
    """Require the load, known so well."""
    assert found.mass_deviation <= mass_deviation
    assert found.com_deviation.max() <= com_deviation
    assert abs(found.mass - mass) <= 2.5 * found.mass_deviation
    assert (np.abs(found.center_of_mass - com) <= 2.5 * found.com_deviation).all()


@pytest.mark.long
@pytest.mark.parametrize('mass', [0.5, 2.0, 5.0])
@pytest.mark.parametrize('coulomb', [0.0, 0.005], ids=['viscous', 'Coulomb'])
def test_a_slow_motion_tells_by_efforts(mass, coulomb) -> None:
    arm = LoadedArm(mass, COM, coulomb=coulomb)
    windows = arm.visit([*poses(5), poses(5)[0]], slowly=True)
    found = estimate_payload(arm.carrier, windows, PayloadSource.EFFORT)
    check(found, mass, 0.12, 0.06 if mass < 1.0 else 0.02)


@pytest.mark.kept(1)
@pytest.mark.parametrize('mass', [0.5, 2.0, 5.0])
@pytest.mark.parametrize('slowly', [False, True], ids=['held', 'slow'])
def test_the_wrist_sensor_tells(mass, slowly) -> None:
    arm = LoadedArm(mass, COM, coulomb=0.005, has_sensor=True)
    windows = arm.visit(poses(5), slowly=slowly)
    found = estimate_payload(arm.carrier, windows, PayloadSource.WRENCH)
    check(found, mass, 0.1, 0.03)


@pytest.mark.long
@pytest.mark.parametrize('has_sensor', [False, True], ids=['efforts', 'sensor'])
def test_an_arm_on_a_tilted_base(has_sensor) -> None:
    arm = LoadedArm(2.0, COM, gravity=TILTED, has_sensor=has_sensor)
    windows = arm.visit([*poses(5), poses(5)[0]], slowly=True)
    source = PayloadSource.WRENCH if has_sensor else PayloadSource.EFFORT
    check(estimate_payload(arm.carrier, windows, source), 2.0, 0.12, 0.03)


@pytest.mark.kept(1)
@pytest.mark.parametrize('has_sensor', [False, True], ids=['efforts', 'sensor'])
def test_one_pose_is_not_enough(has_sensor) -> None:
    arm = LoadedArm(5.0, COM, has_sensor=has_sensor)
    # Until the arm has sunk under the load that it does not know.
    arm.visit(poses(1))
    windows = arm.visit(poses(1))
    source = PayloadSource.WRENCH if has_sensor else PayloadSource.EFFORT
    with pytest.raises(PayloadError, match='do not determine'):
        estimate_payload(arm.carrier, windows, source)
