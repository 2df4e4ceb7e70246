"""The loop that a measured wrench closes: how heavy a tool it bears, and what gain and filter do.

Controller and MuJoCo arm in one process, without ROS. The reading is that of MuJoCo's sensor, as
old as the state it comes with; what it contains of the acceleration is due to the command before.
See doc/wrench.md.
"""

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.control.controller import Controller
from ne_dynamics.control.feedback_gains import Gains
from ne_dynamics.control.laws import ControlLaw, Mode
from ne_dynamics.control.sensors.wrench import WristWrench, inertia_beyond
from ne_dynamics.control.sensors.wrench_settings import WrenchSettings
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import Inertia

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from planted_loop import delayed

from ne_dynamics.simulation.altered_robot import with_hung_mass
from ne_dynamics.simulation.demo.motion import excitation, rest_to_rest
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import OneProcessLoop
from studies.wrench_figures import ARM, POSTURE, heaviest, heaviness

SENSOR = 'ft_sensor'
KP, KV, RATE = 400.0, 40.0, 500.0
HEAVY = 20.0
"""Hung on the tool [kg]; the three links of the wrist are 5.4 kg together."""

NOISE = np.array([0.5] * 3 + [0.02] * 3)
"""Standard deviation of the readings [N, N m]."""

CUT = ARM.cut_beyond(SENSOR)


def loaded(mass):
    """Return the arm with a mass on its tool."""
    return with_hung_mass(ARM, mass, np.zeros(3))


def mass_of(wanted):
    """Return the mass on the tool that makes it so heavy [kg]."""
    return heaviest(wanted, SENSOR)


def modelled(robot, share):
    """Return parameters of a share of what a robot has beyond the sensor, for the model."""
    beyond = inertia_beyond(robot, SENSOR)
    return share * CUT.payload_parameters(
        Inertia(beyond.mass, beyond.center_of_mass, beyond.inertia_about_com), SENSOR
    )


def tracking_error(
    robot,
    motion,
    *,
    kp=KP,
    kv=KV,
    rate=RATE,
    rest=0.5,
    late=0,
    noise=True,
    friction=True,
    limited=True,
    payload=None,
    **wrench,
):
    """Run a motion and return the position errors, shape (N, n) [rad]; None when it diverged.

    `robot` is simulated; what it has beyond the sensor, the model has not. `late` is by how many
    samples the reading is older than the state; `wrench` goes to :class:`WristWrench`.
    """
    model = CUT if friction else CUT.without_friction()
    dynamics = ned.Dynamics(model, backend='python')
    law = ControlLaw(dynamics, Mode.COMPUTED_TORQUE, Gains.from_values(kp, kv, 6), payload=payload)
    limits = ARM.limits('effort_limit') if limited else np.full(6, np.inf)
    tuning = Tuning(law, ControlLaw(dynamics, Mode.GRAVITY_COMPENSATION), limits, np.array(()))
    controller = Controller(tuning)
    controller.sense.wrist = WristWrench(ARM, SENSOR, WrenchSettings(**wrench))
    controller.motion.follow(motion.waypoints())
    arm = MujocoArm(
        robot if friction else robot.without_friction(), period=1.0 / rate, sensor_link=SENSOR
    )
    arm.reset(motion.positions[0])
    rng = np.random.default_rng(0)

    def sensor(reading):
        off = noise * rng.normal(0.0, NOISE)
        return reading._replace(wrench=reading.wrench + off)

    loop = OneProcessLoop(arm, controller, sensors=[sensor, delayed('wrench', late)])
    for _ in range(int((motion.duration + rest) * rate)):
        position = arm.position
        try:
            desired = loop.step().desired
        except InputError:
            return None
        if np.abs(desired - position).max() > 4.0:
            return None
    return loop.recording().error


def rms(errors):
    """Return the RMS error of all joints [rad]; infinite when it diverged."""
    return np.inf if errors is None else float(np.sqrt(np.mean(errors**2)))


def tail(errors):
    """Return the largest error of the last 0.1 s [rad]; infinite when it diverged."""
    return np.inf if errors is None else float(np.abs(errors[-50:]).max())


def grows(mass, **options):
    """Tell whether what a short motion leaves behind grows from one window to the next."""
    motion = rest_to_rest(ARM, POSTURE, POSTURE + 0.03, 0.4)
    # At the limit the arm swings with the frequency of its gains: two periods.
    window = 4.0 * np.pi / np.sqrt(options.get('kp', KP))
    errors = tracking_error(
        loaded(mass),
        motion,
        rest=3.0 * window,
        noise=False,
        friction=False,
        limited=False,
        **options,
    )
    if errors is None:
        return True
    length = int(window * options.get('rate', RATE))
    last, before = errors[-length:], errors[-2 * length : -length]
    return last.std(axis=0).max() > max(before.std(axis=0).max(), 1e-6)


@pytest.mark.long
@pytest.mark.parametrize(
    'options',
    [
        {},
        {'rate': 250.0},
        {'kp': 400.0, 'kv': 80.0, 'late': 1},
        {'late': 3, 'kp': 100.0, 'kv': 20.0},
        {'cutoff_frequency': 100.0},
        {'cutoff_frequency': 50.0, 'kp': 100.0, 'kv': 20.0},
    ],
    ids=str,
)
def test_the_heaviest_tool_is_that_of_the_lag_of_the_reading(options):
    """Up to d = Kv / (Kp T) it is calm, well beyond it is not; T is the age of what acts.

    d is the largest eigenvalue of M_arm^-1 M_tool; T one sample, those by which the reading is
    late, and the lag of the filter, (1 - a) / a samples when a is its share of a new reading.
    """
    rate, cutoff = options.get('rate', RATE), options.get('cutoff_frequency', 0.0)
    share = 1.0 - np.exp(-2.0 * np.pi * cutoff / rate) if cutoff else 1.0
    age = (1.0 / share + options.get('late', 0)) / rate
    limit = options.get('kv', KV) / (options.get('kp', KP) * age)
    assert limit > heaviness(0.0, SENSOR), 'the tool of the model alone is too heavy to test'
    assert not grows(mass_of(0.9 * limit), **options)
    assert grows(mass_of(1.6 * limit), **options)


@pytest.mark.long
@pytest.mark.parametrize('late', [0, 2])
def test_with_a_little_less_gain_any_tool_is_calm(late):
    age = (1 + late) / RATE
    heavy = mass_of(5.0 * KV / (KP * age))
    assert grows(heavy, late=late)
    assert not grows(heavy, late=late, gain=0.99 / (1.0 + age * KP / KV))


def test_a_filter_alone_makes_it_worse():
    mass = mass_of(0.5 * KV * RATE / KP)
    assert not grows(mass)
    for cutoff in (3.0, 30.0):
        assert grows(mass, cutoff_frequency=cutoff)


@pytest.fixture(scope='module')
def heavy_motion():
    """Return a motion of all joints within what the motors can do with the heavy tool."""
    robot = loaded(HEAVY)
    inverse_dynamics = ned.Dynamics(robot, backend='python').inverse_dynamics
    return excitation(ARM, 4.0, inverse_dynamics)


@pytest.fixture(scope='module')
def unaided(heavy_motion):
    """Return the RMS error with the heavy tool when only that of the model is known [rad]."""
    errors = tracking_error(
        loaded(HEAVY), heavy_motion, gain=0.0, payload=modelled(ARM, 1.0), limited=False
    )
    return rms(errors)


def test_a_tool_much_heavier_than_the_wrist_is_unstable_with_full_gain(heavy_motion):
    assert tail(tracking_error(loaded(HEAVY), heavy_motion)) > 0.1


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('options', 'better', 'left'),
    [
        ({'gain': 0.99}, 10.0, 0.1),
        ({'gain': 0.95}, 3.0, 0.4),
        ({'cutoff_frequency': 1.0, 'feedthrough': 0.98}, 10.0, 0.02),
    ],
    ids=str,
)
def test_gain_or_feedthrough_make_a_tool_that_nobody_knows_calm(
    heavy_motion, unaided, options, better, left
):
    errors = tracking_error(loaded(HEAVY), heavy_motion, **options)
    assert np.isfinite(unaided)
    assert rms(errors) <= unaided / better
    assert tail(errors) <= left


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    'options',
    [
        {},
        {'cutoff_frequency': 100.0},
        {'cutoff_frequency': 30.0},
        {'late': 2},
        {'late': 2, 'cutoff_frequency': 100.0},
    ],
    ids=str,
)
def test_what_the_gain_leaves_out_of_a_known_tool_the_model_puts_in(heavy_motion, options):
    robot = loaded(HEAVY)
    errors = tracking_error(robot, heavy_motion, gain=0.9, payload=modelled(robot, 0.1), **options)
    assert rms(errors) <= 5e-3
    assert tail(errors) <= 10e-3
