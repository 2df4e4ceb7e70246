"""What the recordings hold: motions of every kind in every mode, and what may go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import yaml
from golden_arms import PANDA, PUMA, SCARA, SHIPPED, UR5, GoldenArm
from motion_loop import with_coulomb
from plant_loop import Fields, PlantLoop, Scenario, demo_motion, points_of
from planted_loop import FrozenPosition, delayed, wall

from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.altered_robot import scale_friction, scale_masses, with_hung_mass
from ne_dynamics.simulation.base_motion import BaseMotion, Oscillation
from ne_dynamics.simulation.demo.arm import fair_gains
from ne_dynamics.simulation.demo.motion import rest_to_rest
from ne_dynamics.simulation.one_process_loop import differenced_velocity, encoder, external_push

Script = Iterator[float]

STIFF = {'computed_torque.kp': [400.0], 'computed_torque.kv': [40.0]}
POSTURE = (0.3, -0.9, 1.0, 0.4, 0.7, -0.5)
"""Of the shipped arm, where another one than the demo's is of use [rad]."""

WAY = np.array([0.6, -0.4, 0.5, 0.7, -0.6, 0.8])
"""A way of the shipped arm [rad]."""


MIT = {
    'mode': 'feedforward',
    'command.interfaces': ['position', 'velocity', 'effort', 'proportional', 'derivative'],
    'command.kp': [150.0, 150.0, 150.0, 30.0, 30.0, 30.0],
    'command.kd': [15.0, 15.0, 10.0, 2.0, 2.0, 2.0],
}

UNWATCHED = {'following_error.position': [0.0], 'following_error.velocity': [0.0]}
UR5_BACKWARDS = [
    f'{name}_joint'
    for name in ('wrist_3', 'wrist_2', 'wrist_1', 'elbow', 'shoulder_lift', 'shoulder_pan')
]
TILTED = BaseMotion.from_rpy(
    (0.25, -0.15, 0.1),
    Oscillation.about((1, 1, 0), 0.1, 0.8),
    Oscillation.along((1, 0, 0), 0.02, 1.1),
)
SCENARIOS: list[Scenario] = []


def heavier(robot: Any) -> Any:
    """Return an arm of other masses and friction than those of the model."""
    return scale_friction(scale_masses(robot, 1.08), 1.3)


def fine_encoder() -> list[Any]:
    """Return an encoder of 20 bits."""
    return [encoder(20)]


def as_modelled(robot: Any) -> Any:
    """Return the arm of the model."""
    return robot


def coarse_encoder() -> list[Any]:
    """Return an encoder of 12 bits, whose positions are differenced."""
    return [encoder(12), differenced_velocity(60.0)]


def pd_gains(arm: GoldenArm) -> dict[str, Any]:
    """Return gains of feedforward_pd that act as 100 and 20 do in computed torque."""
    gains = fair_gains(arm.robot, demo_motion(arm.robot), 100.0, 20.0)
    return {
        f'feedforward_pd.{name}': np.round(np.asarray(one, float), 3).tolist()
        for name, one in zip(('kp', 'kv'), gains, strict=True)
    }


def leader_parameters() -> dict[str, Any]:
    """Return the parameters of the shipped file for leader arms, by their full names."""
    text = shipped_file('leader_arm.params.yaml').read_text()
    values: dict[str, Any] = {}

    def flatten(prefix: str, tree: dict[str, Any]) -> None:
        for key, value in tree.items():
            if isinstance(value, dict):
                flatten(f'{prefix}{key}.', value)
            else:
                values[prefix + key] = value

    flatten('', yaml.safe_load(text)['/**']['ros__parameters'])
    return values


def scenario(
    name: str, arm: GoldenArm, parameters: dict[str, Any] | None = None, **fields: Any
) -> Callable[[Any], Any]:
    """Add a scenario with a script; its arm is heavier than the model unless it says otherwise."""

    def add(script: Any) -> Any:
        given = {'plant': heavier, 'make_sensors': fine_encoder, **fields}
        about = script.__doc__.partition('\n')[0]
        SCENARIOS.append(Scenario(name, about, arm, script, parameters or {}, **given))
        return script

    return add


# ---- modes


@scenario('demo_computed_torque', SHIPPED, STIFF, seconds=2.8, rate=500.0)
@scenario('demo_feedforward_pd', SHIPPED, {'mode': 'feedforward_pd', **pd_gains(SHIPPED)})
@scenario('puma_demo', PUMA, {'velocity_source': 'estimated'}, without=('velocity',))
def follow_demo(loop: PlantLoop) -> Script:
    """Send the motion of the demo after a while."""
    yield 0.3
    loop.follow(loop.motion)


@scenario(
    'demo_feedforward', SHIPPED, {'mode': 'feedforward', 'feedforward.robot_closes_loop': True}
)
def robot_closes_loop(loop: PlantLoop) -> Script:
    """Let the robot itself hold the motion of the demo, beside the efforts that it is sent."""
    diagonal = np.diag(loop.plant.mass_matrix())

    def drive(plant: Any, effort: Any) -> Any:
        place, rate, _ = (one[0] for one in loop.motion.sample([np.clip(plant.time - 0.3, 0, 2)]))
        return diagonal * (200.0 * (place - plant.position) + 28.0 * (rate - plant.velocity))

    loop.disturbances.append(drive)
    yield from follow_demo(loop)


@scenario('gravity_compensation', SHIPPED, {'mode': 'gravity_compensation'}, rate=125.0)
def pushed_about(loop: PlantLoop) -> Script:
    """Push an arm that floats, one way and another."""
    yield 0.5
    limits = loop.robot.limits('effort_limit')
    loop.disturbances[:] = [external_push(0.05 * limits)]
    yield 0.8
    loop.disturbances[:] = [external_push(-0.08 * limits)]
    yield 1.1
    loop.disturbances.clear()
    loop.follow(loop.motion)
    yield 1.5
    loop.set(payload__mass=1.0)
    yield 2.0
    loop.tell('trigger', 'hold')


# ---- trajectories


@scenario('panda_splines', PANDA, STIFF)
def by_splines(loop: PlantLoop) -> Script:
    """Send points of several orders, each in place of the one before."""
    start = loop.start
    rng = np.random.default_rng(11)
    places = np.round(start + rng.uniform(-0.25, 0.25, (5, loop.robot.n)), 4)
    yield 0.2
    points = [[0.4 * (row + 1), place.tolist()] for row, place in enumerate(places)]
    loop.tell('trajectory', {'points': points})
    yield 1.1
    ends = [places[3], start]
    points = [
        [0.5 * (row + 1), place.tolist(), (0.1 * (1 - row) * np.ones(loop.robot.n)).tolist()]
        for row, place in enumerate(ends)
    ]
    loop.tell('trajectory', {'points': points})
    yield 1.5
    # In the future: what is followed goes on till then.
    motion = rest_to_rest(loop.robot, places[3], start + 0.1, 0.9)
    loop.follow(motion, stamp=1.8)


@scenario('ur5_lines', UR5, {'interpolation_method': 'linear', 'joints': UR5_BACKWARDS})
def by_lines(loop: PlantLoop) -> Script:
    """Send straight lines."""
    start = loop.start
    yield 0.2
    points = [[0.6, (start + 0.2).tolist()], [1.2, (start - 0.1).tolist()], [1.8, start.tolist()]]
    loop.tell('trajectory', {'points': points})


@scenario('scara_chunks', SCARA, STIFF)
@scenario('shipped_chunks', SHIPPED, rate=125.0)
def by_chunks(loop: PlantLoop) -> Script:
    """Stream positions in chunks that overlap, lose some, disagree once, and end on the way."""
    rng = np.random.default_rng(3)
    rate, every = 30.0, 4
    for chunk in range(17):
        begin = 0.2 + chunk * every / rate
        yield begin - 0.02
        if chunk in (6, 7, 8):
            continue
        times = np.arange(1, 7) / rate
        phase = 2.0 * (begin - 0.2 + times)
        swing = 0.35 * (1.0 - np.cos(phase))[:, np.newaxis] * np.cos(np.arange(loop.robot.n))
        noise = rng.normal(0.0, 2e-3, swing.shape) if chunk == 10 else 0.0
        places = np.round(loop.start + swing + noise, 5).tolist()
        points = [list(row) for row in zip(times.tolist(), places, strict=True)]
        loop.tell('trajectory', {'points': points, 'stamp': round(begin, 6)})


@scenario(
    'partial_goals',
    SHIPPED,
    {'allow_partial_joints_goal': True, 'allow_nonzero_velocity_at_trajectory_end': True},
    seconds=3.4,
    rate=125.0,
)
def by_parts(loop: PlantLoop) -> Script:
    """Send goals for some of the joints, and one that ends moving."""
    names, start = list(loop.robot.joint_names), loop.start
    yield 0.2
    loop.follow(loop.motion)
    yield 0.6
    loop.tell(
        'trajectory', {'names': names[3:5], 'points': [[0.5, [0.2, 0.3]], [1.0, [0.5, 0.6]]]}
    )
    yield 1.7
    place = float(round(loop.plant.position[5], 4))
    loop.tell('trajectory', {'names': [names[5]], 'points': [[0.4, [place + 0.2], [0.8], [0.0]]]})
    yield 2.4
    point = [0.5, (start + 0.1).tolist(), np.full(6, 0.3).tolist(), np.zeros(6).tolist()]
    loop.tell('trajectory', {'points': [point]})


@scenario(
    'integrated_points',
    SHIPPED,
    {'allow_integration_in_goal_trajectories': True},
    seconds=3.2,
    rate=125.0,
)
def by_integration(loop: PlantLoop) -> Script:
    """Send velocities alone, and accelerations alone."""
    one = np.array([0.3, -0.2, 0.4, 0.5, -0.3, 0.6])
    yield 0.2
    speeds = [
        [0.4 * row, [], (share * one).tolist()] for row, share in ((1, 1.0), (2, 1.0), (3, 0.0))
    ]
    loop.tell('trajectory', {'points': speeds})
    yield 1.7
    pushes = [
        [0.3, [], [], one.tolist()],
        [0.9, [], [], (-one).tolist()],
        [1.2, [], [], [0.0] * 6],
    ]
    loop.tell('trajectory', {'points': pushes})


@scenario('slow_down', SHIPPED, {'trajectory.when_infeasible': 'slow_down', **STIFF}, seconds=3.6)
@scenario(
    'infeasible_followed', SHIPPED, {'trajectory.when_infeasible': 'follow', **STIFF}, seconds=3.2
)
def too_fast(loop: PlantLoop) -> Script:
    """Send a way in less time than the motors allow, and another one on it."""
    yield 0.2
    loop.go(2.0 * WAY, 0.9)
    yield 2.2
    loop.go(-WAY, 0.5)


@scenario('speed_scaling', SHIPPED, seconds=2.8, rate=125.0, needs_control_msgs=True)
def at_another_speed(loop: PlantLoop) -> Script:
    """Change the speed of a motion, to a stand and back; say what cannot be."""
    yield 0.2
    loop.follow(loop.motion)
    for time, factor in ((0.6, 0.5), (1.0, 1.0), (1.3, 0.0), (1.6, 0.7), (1.8, 1.5)):
        yield time
        loop.tell('speed', factor)
    yield 2.3
    loop.tell('trigger', 'hold')


# ---- sensors


@scenario(
    'wrench',
    SHIPPED,
    {'wrench.enabled': True, 'wrench.sensor_link': 'ft_sensor', 'wrench.on_timeout': 'zero'},
    plant=as_modelled,
    options={'sensor_link': 'ft_sensor'},
)
def with_wrench(loop: PlantLoop) -> Script:
    """Move with a sensor; take up a load; lose the readings and find them; tare."""
    yield 0.2
    loop.tell('trigger', 'tare_wrench')
    loop.follow(loop.motion)
    yield 0.7
    robot = with_hung_mass(loop.scenario.plant(loop.robot), 2.0, (0.03, 0.0, 0.05))
    loop.carry(robot)
    yield 1.2
    loop.alter_reading = lambda kind, values: None
    yield 2.1
    loop.alter_reading = lambda kind, values: values
    yield 2.3
    bad = {'stamp': round(1e9 * loop.time), 'frame': 'nowhere', 'values': [0.0] * 6}
    loop.tell('wrench', bad)
    loop.tell('wrench', {**bad, 'frame': 'ft_sensor', 'values': [float('nan')] * 6})
    loop.tell('wrench', {**bad, 'frame': 'ft_sensor', 'values': [1e5] * 6})
    yield 2.5
    loop.tell('trigger', 'tare_wrench')
    yield 2.7
    loop.set(wrench__cutoff_frequency=20.0)


@scenario(
    'imu',
    SHIPPED,
    {'imu.enabled': True, 'imu.on_timeout': 'level'},
    options={'imu_link': 'base_link', 'base': TILTED},
)
def with_imu(loop: PlantLoop) -> Script:
    """Move on a base that rocks; lose the readings and find them."""
    yield 0.4
    loop.follow(loop.motion)
    yield 1.5
    loop.alter_reading = lambda kind, values: None
    yield 2.3
    loop.alter_reading = lambda kind, values: values


@scenario('observer', SHIPPED, {'observer.mode': 'compensate'}, seconds=3.6)
def with_observer(loop: PlantLoop) -> Script:
    """Move with a load that nobody knows, and be pushed."""
    yield 0.3
    loop.follow(loop.motion)
    yield 1.0
    loop.carry(with_hung_mass(loop.scenario.plant(loop.robot), 2.0, (0.0, 0.0, 0.05)))
    yield 2.4
    loop.disturbances[:] = [external_push([0, 25.0, 15.0, 0, 3.0, 0])]
    yield 2.7
    loop.disturbances.clear()
    yield 3.0
    loop.set(observer__mode='off')
    yield 3.3
    loop.set(observer__mode='compensate', mode='gravity_compensation')


@scenario(
    'contact_hold',
    SHIPPED,
    {'observer.mode': 'estimate', 'contact.reaction': 'hold'},
    seconds=3.4,
    rate=125.0,
)
@scenario(
    'contact_float',
    SHIPPED,
    {'observer.mode': 'compensate', 'contact.reaction': 'float'},
    seconds=3.4,
    rate=125.0,
)
def touched(loop: PlantLoop) -> Script:
    """Touch an arm that moves, and send it on later."""
    yield 0.3
    loop.follow(loop.motion)
    yield 1.2
    loop.disturbances[:] = [external_push([0, 0, 20.0], link=loop.robot.tip.name)]
    yield 1.25
    loop.disturbances[:] = [external_push([0, 60.0, -80.0], link=loop.robot.tip.name)]
    yield 1.5
    loop.disturbances.clear()
    yield 2.2
    loop.tell('trigger', 'hold')
    yield 2.4
    loop.go(0.3 * WAY, 0.8)


# ---- what is set and asked for on the way


@scenario('parameters', SHIPPED)
def tuned_on_the_way(loop: PlantLoop) -> Script:
    """Change gains, load, terms, limits and rates while the arm moves; try what cannot be."""
    yield 0.2
    loop.follow(loop.motion)
    yield 0.5
    loop.set(computed_torque__kp=[225.0], computed_torque__kv=[30.0])
    yield 0.7
    loop.set(payload__mass=1.5, payload__com=[0.0, 0.0, 0.05])
    yield 0.9
    loop.set(transition_time=0.05)
    loop.set(terms__coriolis=False)
    yield 1.1
    loop.set(effort_rate_limit=[4000.0])
    loop.set(effort_limits=[300.0, 300.0, 140.0, 40.0, 40.0, 40.0])
    yield 1.3
    loop.set(payload__mass=0.0)
    loop.set(computed_torque__kp=[40000.0])
    loop.set(effort_limits=[1.0])
    loop.set(state_timeout=1e-4)
    loop.set(state_timeout=float('nan'))
    loop.set(mode='feedforward')
    loop.set(backend='compiled')
    loop.set(payload__mass=-1.0)
    loop.set(unknown=1.0)
    loop.tell('single_parameters', {'terms.coriolis': True, 'transition_time': -1.0})
    yield 1.7
    loop.set(velocity_source='estimated')
    yield 2.1
    loop.set(velocity_source='differentiated', velocity_cutoff_frequency=60.0)
    yield 2.4
    loop.set(effort_rate_limit=[0.0], friction__smoothing_velocity=0.01, terms__friction=False)


@scenario('modes', SHIPPED, pd_gains(SHIPPED))
def through_the_modes(loop: PlantLoop) -> Script:
    """Change the mode while the arm moves, and back."""
    yield 0.2
    loop.follow(loop.motion)
    for time, mode in (
        (0.6, 'feedforward_pd'),
        (1.0, 'computed_torque'),
        (1.3, 'gravity_compensation'),
        (1.6, 'computed_torque'),
    ):
        yield time
        loop.set(mode=mode)
    yield 1.9
    loop.go(0.4 * WAY, 0.8)
    yield 2.2
    loop.set(mode='feedforward_pd')


@scenario('stops', SHIPPED, seconds=3.7, rate=125.0)
def stopped(loop: PlantLoop) -> Script:
    """Hold, send nothing, deactivate on the way, activate again."""
    yield 0.2
    loop.go(WAY, 1.0)
    yield 0.6
    loop.tell('trigger', 'hold')
    yield 1.1
    loop.go(-WAY, 1.0)
    yield 1.5
    loop.tell('trajectory', {'points': []})
    yield 1.8
    loop.go(WAY, 1.0)
    yield 2.2
    loop.tell('transition', 'deactivate')
    yield 2.5
    loop.tell('trigger', 'hold')
    loop.go(WAY, 1.0)
    loop.tell('transition', 'activate')
    yield 2.9
    loop.set(on_deactivate='zero')
    loop.tell('transition', 'deactivate')
    yield 3.0
    loop.tell('transition', 'activate')
    yield 3.3
    loop.tell('transition', 'deactivate')
    loop.tell('transition', 'cleanup')
    loop.tell('transition', 'activate')
    yield 3.4
    loop.tell('transition', 'configure')
    loop.tell('transition', 'activate')


@scenario('goals', SHIPPED, STIFF, seconds=3.5, rate=125.0, needs_control_msgs=True)
def by_goals(loop: PlantLoop) -> Script:
    """Send goals: one that succeeds, one that is cancelled, replaced, not reached, refused."""

    def send(name: str, way: Any, seconds: float, **fields: Any) -> None:
        here = np.round(loop.plant.position, 4)
        motion = rest_to_rest(loop.robot, here, here + way, seconds)
        loop.tell('goal', {'id': name, 'points': points_of(motion), **fields})

    yield 0.2
    send('reached', 0.3 * WAY, 0.6, goal_tolerance=0.05, goal_time=0.5)
    yield 1.3
    send('cancelled', -WAY, 1.0)
    yield 1.6
    loop.tell('cancel', 'cancelled')
    yield 1.8
    send('replaced', WAY, 1.0)
    yield 2.0
    send('strict', -0.5 * WAY, 0.8, path_tolerance=0.006)
    yield 2.5
    send('infeasible', 3.0 * WAY, 0.3)
    send('old', WAY, 0.3, stamp=0.5)
    yield 2.6
    send('by topic', WAY, 1.0)
    yield 2.8
    loop.go(-0.2 * WAY, 0.6)
    yield 3.1
    send('left', 0.2 * WAY, 1.0)
    yield 3.3
    loop.tell('transition', 'deactivate')


# ---- states


@scenario('state_loss', SHIPPED, seconds=3.6)
def without_states(loop: PlantLoop) -> Script:
    """Lose the states on the way, from rest, in a brake; let them come back."""
    yield 0.2
    loop.go(WAY, 1.0)
    yield 0.6
    loop.alter = lambda fields: None
    yield 1.0
    loop.alter = lambda fields: fields
    yield 1.7
    loop.go(-WAY, 1.0)
    yield 2.1
    loop.alter = lambda fields: None
    # In the middle of the brake.
    yield 2.3
    loop.alter = lambda fields: fields
    yield 2.6
    loop.set(on_state_loss='gravity')
    loop.go(WAY, 1.0)
    yield 2.9
    loop.alter = lambda fields: None
    loop.set(state_timeout=0.05)
    yield 3.3
    loop.alter = lambda fields: fields


@scenario('odd_states', SHIPPED, seconds=3.8)
def odd_states(loop: PlantLoop) -> Script:
    """Send states that cannot be used, in another order, among others; let them jump."""

    def broken(fields: Fields) -> Fields:
        kind = round(fields['stamp'] * loop.scenario.rate) % 8
        position = np.array(fields['position'])
        if kind == 1:
            position[2] = np.nan
        elif kind == 2:
            return {**fields, 'position': position[:4]}
        elif kind == 3:
            return {**fields, 'name': fields['name'][:5]}
        elif kind == 4:
            return {**fields, 'velocity': np.zeros(0)}
        elif kind == 5:
            order = [3, 1, 5, 0, 2, 4]
            names = [fields['name'][index] for index in order]
            arrays = {key: fields[key][order] for key in ('position', 'velocity', 'effort')}
            return {'stamp': fields['stamp'], 'name': names, **arrays}
        elif kind == 6:
            names = ['gripper', *fields['name']]
            keys = 'position', 'velocity', 'effort'
            arrays = {key: np.insert(fields[key], 0, 0.5) for key in keys}
            return {'stamp': fields['stamp'], 'name': names, **arrays}
        return {**fields, 'position': position}

    def spike(fields: Fields) -> Fields:
        loop.alter = lambda fields: fields
        return {**fields, 'position': fields['position'] + [0, 0, 0.8, 0, 0, 0]}

    yield 0.2
    loop.go(WAY, 1.2)
    yield 0.5
    loop.alter = broken
    yield 1.0
    loop.alter = lambda fields: fields
    # The third time latches.
    for time in (1.7, 2.1, 2.5):
        yield time
        loop.alter = spike
        yield time + 0.1
        loop.go(0.1 * WAY, 0.5)
    yield 2.8
    loop.tell('trigger', 'hold')
    yield 3.0
    loop.tell('trigger', 'clear_fault')
    yield 3.1
    loop.go(-0.3 * WAY, 0.6)


@scenario('clocks', SHIPPED, seconds=3.4)
def other_clocks(loop: PlantLoop) -> Script:
    """Let the stamps stand still, jump ahead, run backwards, be early once, and be none."""

    def shifted(by: float) -> Any:
        return lambda fields: {**fields, 'stamp': fields['stamp'] + by}

    def frozen(at: float) -> Any:
        return lambda fields: {**fields, 'stamp': at}

    yield 0.2
    loop.go(WAY, 1.5)
    yield 0.6
    loop.alter = frozen(0.6)
    yield 1.0
    loop.alter = shifted(0.0)
    yield 1.3
    loop.go(-0.5 * WAY, 0.8)
    yield 1.5
    loop.alter = shifted(0.5)
    yield 1.9
    loop.go(0.5 * WAY, 0.8)
    yield 2.1
    loop.alter = shifted(-1.2)
    yield 2.6
    loop.alter = shifted(-1.16)
    yield 2.604
    loop.alter = shifted(-1.2)
    yield 2.8
    loop.alter = shifted(-1.23)
    yield 2.82
    loop.alter = shifted(-1.2)
    yield 3.0
    loop.go(-0.3 * WAY, 0.8)
    yield 3.1
    loop.alter = frozen(-1000.0)


@scenario('simulated_clock', SHIPPED, {'use_sim_time': True}, seconds=3.4, rate=125.0)
def simulated_clock(loop: PlantLoop) -> Script:
    """Go by /clock, which begins late, stands still and is set back."""
    shift = 0.0

    def at_clock(fields: Fields) -> Fields:
        time = fields['stamp'] + shift
        loop.tell('clock', round(1e9 * time))
        return {**fields, 'stamp': time}

    yield 0.3
    loop.alter = at_clock
    yield 0.5
    loop.go(WAY, 1.2)
    yield 1.0
    loop.alter = lambda fields: None
    yield 1.2
    loop.alter = at_clock
    yield 1.5

    def lost(fields: Fields) -> None:
        loop.tell('clock', round(1e9 * fields['stamp']))

    loop.alter = lost
    yield 1.9
    loop.alter = at_clock
    yield 2.3
    loop.go(-0.5 * WAY, 0.8)
    yield 2.5
    shift = -20.0


# ---- what moves otherwise than it should


@scenario('frozen_encoder', SHIPPED, STIFF)
def frozen_encoder(loop: PlantLoop) -> Script:
    """Let the positions stand still on the way; clear the fault when they are back."""
    yield 0.2
    loop.go(WAY, 1.0)
    yield 0.6
    loop.sensors.append(FrozenPosition(loop.time))
    yield 1.6
    loop.sensors.pop()
    yield 1.8
    loop.tell('trigger', 'clear_fault')
    yield 2.2
    loop.go(-0.2 * WAY, 0.7)


@scenario('wrong_velocity', SHIPPED)
def mirrored_velocity(loop: PlantLoop) -> Script:
    """Let the velocities have the wrong sign; then be zero."""
    yield 0.2
    loop.sensors.append(lambda reading: reading._replace(velocity=-reading.velocity))
    loop.go(WAY, 1.5)
    yield 1.2
    loop.sensors.pop()
    loop.tell('trigger', 'clear_fault')
    yield 1.7
    loop.tell('transition', 'deactivate')
    loop.tell('transition', 'activate')
    loop.sensors.append(lambda reading: reading._replace(velocity=0.0 * reading.velocity))
    yield 1.8
    loop.go(0.3 * WAY, 1.0)


@scenario(
    'wall',
    SHIPPED,
    {'observer.mode': 'compensate', 'following_error.position': [0.3]},
    seconds=3.5,
)
def against_a_wall(loop: PlantLoop) -> Script:
    """Move a joint against a wall."""
    yield 0.2
    loop.disturbances.append(wall(1, loop.start[1] + 0.15))
    loop.go([0.2, 0.7, 0.0, 0.0, 0.1, 0.0], 1.2)
    yield 2.4
    loop.disturbances.clear()
    loop.tell('trigger', 'clear_fault')
    yield 2.6
    loop.go([0.0, -0.3, 0.0, 0.0, 0.0, 0.0], 0.8)


@scenario('saturation', SHIPPED, {**UNWATCHED, 'saturation.timeout': 0.4})
def too_heavy(loop: PlantLoop) -> Script:
    """Put more on an arm than a joint can hold."""
    yield 0.4
    loop.disturbances[:] = [external_push([0, 0, 0, 0, 62.0, 0])]
    yield 0.9
    loop.disturbances.clear()
    yield 2.2
    loop.tell('trigger', 'clear_fault')


@scenario('shaking', SHIPPED, {**STIFF, **UNWATCHED, 'velocity_check': False})
def shaken(loop: PlantLoop) -> Script:
    """Let velocities come late to gains that are calm without that."""
    yield 0.3
    loop.sensors.append(delayed('velocity', 12))
    loop.sensors.append(delayed('position', 12))
    loop.go(WAY, 1.0)


@scenario('velocity_error', SHIPPED, {'following_error.velocity': [0.3]}, seconds=2.5)
def carried_off(loop: PlantLoop) -> Script:
    """Carry a joint off faster than it may go, after a shorter while of it."""

    def growing(begin: float) -> Any:
        return lambda plant, effort: 300.0 * (plant.time - begin) * np.eye(6)[1]

    for begin, seconds in ((0.3, 0.15), (1.0, 0.6)):
        yield begin
        loop.disturbances[:] = [growing(loop.time)]
        yield begin + seconds
        loop.disturbances.clear()


@scenario('malformed', SHIPPED, seconds=2.6, rate=125.0)
def malformed(loop: PlantLoop) -> Script:
    """Send trajectories that cannot be followed while one is."""
    names, start = list(loop.robot.joint_names), loop.start
    one = start.tolist()
    yield 0.2
    loop.go(WAY, 1.2)
    yield 0.5
    for content in (
        {'points': [[1.0, [*one[:5], float('nan')]]]},
        {'points': [[1.0, one[:5]]]},
        {'points': [[1.0, one], [0.5, one]]},
        {'points': [[1.0, [9.0, *one[1:]]]]},
        {'points': [[1.0, one, [0.5] * 6]]},
        {'names': [*names[:5], 'nobody'], 'points': [[1.0, one]]},
        {'names': names[:4], 'points': [[1.0, one[:4]]]},
        {'points': [[0.1, (start + 2.0).tolist(), [0.0] * 6, [0.0] * 6]]},
        {'points': [[0.2, one], [0.4, [], [0.1] * 6]]},
        {'points': [[0.1, one]], 'stamp': -5.0},
        {'points': [[0.5, [], [0.1] * 6]]},
    ):
        loop.tell('trajectory', content)
    yield 1.6
    points = [[0.3, (start + 0.1).tolist(), [0.0] * 6, [0.0] * 6, [1.0] * 6], [1.0, one]]
    loop.tell('trajectory', {'points': points, 'stamp': 1.4})
    yield 2.0
    loop.follow(rest_to_rest(loop.robot, loop.start, loop.start + 0.1, 0.5), stamp=60.0)


@scenario(
    'tolerances',
    SHIPPED,
    {
        'constraints.trajectory': [0.05],
        'constraints.goal': [0.02],
        'constraints.goal_time': 0.3,
        'cmd_timeout': 0.4,
    },
    rate=125.0,
)
def not_in_time(loop: PlantLoop) -> Script:
    """Follow by the tolerances of the node: one motion keeps them, one does not."""
    yield 0.2
    loop.go(0.3 * WAY, 0.6)
    yield 1.2
    loop.disturbances[:] = [external_push([0, 0, 0, 4.0, 0, 0])]
    loop.go(-0.3 * WAY, 0.6)
    yield 2.0
    loop.disturbances.clear()
    loop.go(0.2 * WAY, 0.5)


@scenario('stiction', SHIPPED, plant=lambda robot: with_coulomb(robot, 0.01), seconds=3.2)
def slowly(loop: PlantLoop) -> Script:
    """Move joints that stick before they move."""
    yield 0.2
    loop.go([0.6, -0.5, 0.6, 0.7, -0.6, 0.5], 2.5)


@scenario('coarse_velocity', SHIPPED, STIFF, make_sensors=coarse_encoder, seconds=2.5)
def held(loop: PlantLoop) -> Script:
    """Hold an arm whose driver differences coarse encoders."""
    yield 1.0
    loop.go(0.2 * WAY, 1.0)


@scenario('mirrored_gravity', SHIPPED, {'gravity': [0.0, 0.0, 9.80665]}, seconds=2.0, rate=125.0)
def upside_down(loop: PlantLoop) -> Script:
    """Activate a node whose gravity has the wrong sign."""
    yield 1.0
    loop.go(0.2 * WAY, 0.8)


@scenario('rate_limit', SHIPPED, STIFF)
def pushed_once(loop: PlantLoop) -> Script:
    """Push an arm after a rate limit that is too slow for its gains was asked for."""
    yield 0.3
    loop.set(effort_rate_limit=[386.0])
    yield 0.5
    loop.disturbances[:] = [external_push([0, 30.0, 0, 0, 0, 0])]
    yield 0.7
    loop.disturbances.clear()


@scenario(
    'wrench_sign',
    SHIPPED,
    {'wrench.enabled': True, 'wrench.sensor_link': 'ft_sensor', 'wrench.measures': 'by_tool'},
    plant=as_modelled,
    options={'sensor_link': 'ft_sensor'},
    seconds=2.0,
    rate=125.0,
)
def wrench_of_other_sign(loop: PlantLoop) -> Script:
    """Hold an arm by readings of the wrong sign."""
    yield 1.0
    loop.tell('trigger', 'tare_wrench')


@scenario('gripper_appended', SHIPPED, seconds=1.5, rate=125.0)
def with_gripper(loop: PlantLoop) -> Script:
    """Name a gripper after the joints, of which there is no velocity."""

    def append(fields: Fields) -> Fields:
        place, effort = (np.append(fields[key], 0.02) for key in ('position', 'effort'))
        name = [*fields['name'], 'gripper']
        return {**fields, 'name': name, 'position': place, 'effort': effort}

    loop.alter = append
    yield 0.4
    loop.go(0.3 * WAY, 0.8)


@scenario('long_trajectory', SHIPPED, seconds=2.2, rate=125.0)
def of_many_points(loop: PlantLoop) -> Script:
    """Send more points than are read in one turn, and others while they are judged."""
    yield 0.2
    times = np.linspace(0.0, 1.6, 1201)[1:]
    swing = 0.2 * (1.0 - np.cos(2.0 * np.pi * times / 1.6))[:, np.newaxis] * np.ones(6)
    places = np.round(loop.start + swing, 5).tolist()
    points = [list(row) for row in zip(np.round(times, 6).tolist(), places, strict=True)]
    loop.tell('trajectory', {'points': points})


# ---- drives and leaders


@scenario('mit_drives', SHIPPED, MIT, seconds=3.6, start=POSTURE)
def on_drives(loop: PlantLoop) -> Script:
    """Move, lose the states on the way, go on, be held back, deactivate on the way."""
    yield 0.2
    loop.go(WAY, 0.8)
    yield 1.2
    loop.go(-WAY, 1.0)
    yield 1.6
    loop.alter = lambda fields: None
    yield 2.0
    loop.alter = lambda fields: fields
    yield 2.3
    loop.set(command__kp=[80.0], transition_time=0.1)
    loop.go(0.5 * WAY, 0.8)
    yield 2.6
    loop.tell('trigger', 'hold')
    yield 2.8
    loop.go(-0.5 * WAY, 0.8)
    yield 3.1
    loop.tell('transition', 'deactivate')


@scenario('leader', SHIPPED, leader_parameters(), seconds=4.0, rate=125.0)
def led_by_hand(loop: PlantLoop) -> Script:
    """Lead an arm, fast at the end, and lose it out of sight."""
    limits = loop.robot.limits('effort_limit')
    yield 0.4
    loop.disturbances[:] = [external_push(0.06 * limits * [1, -1, 1, 1, -1, 1])]
    yield 0.9
    loop.disturbances[:] = [external_push(-0.1 * limits * [1, -1, 1, 1, -1, 1])]
    yield 1.4
    loop.disturbances.clear()
    loop.go(WAY, 1.0)
    yield 1.9
    loop.alter = lambda fields: None
    yield 2.8
    loop.alter = lambda fields: fields
    yield 3.2
    loop.alter = lambda fields: None
    yield 3.6
    loop.tell('transition', 'deactivate')


@scenario('repeated_commands', SCARA, {'command.repeat': 500.0, **STIFF}, seconds=2.6, rate=125.0)
def repeated(loop: PlantLoop) -> Script:
    """Let states stay away for less than the timeout while commands are repeated."""
    yield 0.3
    loop.follow(loop.motion)
    yield 0.9
    loop.alter = lambda fields: None
    yield 0.96
    loop.alter = lambda fields: fields
    yield 1.4
    loop.alter = lambda fields: None
    yield 1.7
    loop.alter = lambda fields: fields
