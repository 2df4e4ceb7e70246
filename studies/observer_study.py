"""What the momentum observer is worth: closed loops in one process, row by row of a table.

    python -m studies.observer_study doc/observer.md     # make observer-study

writes the tables of that document anew, between their markers. The controller is the one that the
node makes of its parameters; the arm is the shipped one in MuJoCo, at 500 Hz unless it is said
otherwise.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.control import largest_damping_rate
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.model.robot import FloatArray, Robot
from ne_dynamics.prepared_file import write_whole
from ne_dynamics.ros import PARAMETERS
from ne_dynamics.simulation import ElasticArm, MujocoArm, OneProcessLoop
from ne_dynamics.simulation.altered_robot import scale_friction, scale_masses
from ne_dynamics.simulation.demo.arm import fair_gains
from ne_dynamics.simulation.demo.motion import WaypointMotion, rest_to_rest
from ne_dynamics.simulation.demo.tables import figure
from ne_dynamics.simulation.one_process_loop import (
    differenced_velocity,
    encoder,
    external_push,
    torque_ripple,
)

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / 'test/support'))

from motion_loop import (  # noqa: E402
    PERIOD,
    demo_motion,
    node_controller,
    shipped_arm,
    with_coulomb,
)

KP, KV = 100.0, 20.0
"""The node's defaults [1/s^2, 1/s]."""

DURATION, REST = 4.0, 4.0
"""Of the motion, and at its end [s]."""

AT_REST = 0.5
"""The error at rest is the largest one in this time at the end [s]."""

GEAR_FRICTION = 0.0025
"""Coulomb friction that the model knows, in the rows on friction, by the effort limits."""

NOTHING_IS_GIVEN_UP: Mapping[str, object] = {
    'following_error.position': [0.0],
    'following_error.velocity': [0.0],
    'following_error.frozen': [0.0],
    'saturation.timeout': 0.0,
    'jump_velocity': [0.0],
    'velocity_check': False,
}
"""Large errors are to be measured."""


class Stiction:
    """Friction with bristles, which is larger at rest: Coulomb, Stribeck, presliding (LuGre).

    Parameters
    ----------
    coulomb : array-like, shape (n,)
        Effort in motion [N m or N].
    breakaway : float
        Effort at rest, by that.
    inertia : array-like, shape (n,)
        Of the joints, for the damping of the bristles [kg m^2 or kg].
    stribeck_velocity : float
        At which it has fallen by most of the difference [rad/s or m/s].
    presliding : float
        How far bristles bend before the joint breaks away [rad or m].
    """

    def __init__(
        self,
        coulomb: ArrayLike,
        breakaway: float,
        inertia: ArrayLike,
        stribeck_velocity: float = 0.01,
        presliding: float = 1e-4,
    ) -> None:
        self._coulomb = np.array(coulomb, dtype=np.float64)
        self._static = breakaway * self._coulomb
        self._stribeck_velocity = stribeck_velocity
        self._stiffness = self._static / presliding
        self._damping = 0.7 * np.sqrt(self._stiffness * np.asarray(inertia))
        self._bent = np.zeros_like(self._coulomb)

    def __call__(self, arm: MujocoArm, effort: FloatArray) -> FloatArray:
        """Return what the bristles do to the joints, a period after the last call."""
        velocity, period = arm.velocity, arm.period
        share = np.exp(-((velocity / self._stribeck_velocity) ** 2))
        largest = self._coulomb + (self._static - self._coulomb) * share
        # Implicit: bristles are stiff.
        slip = period * self._stiffness * np.abs(velocity) / largest
        bent = (self._bent + period * velocity) / (1.0 + slip)
        rate, self._bent = (bent - self._bent) / period, bent
        friction: FloatArray = -(self._stiffness * bent + self._damping * rate)
        return friction


@dataclass(frozen=True)
class Case:
    """What is wrong, with the arm or with what is between it and the node.

    Attributes
    ----------
    label : str
    masses, friction : float
        Of the arm, by those of the model.
    has_gears : bool
        Whether its joints have the friction of gears.
    delay : int
        Periods by which commands act late.
    encoder_bits : int, optional
        Then the velocities are the positions' differences, filtered.
    is_differenced_by_robot : bool
        Whether the robot does that, with 30 Hz, and the node has to be told of the lag.
    ripple : bool
        Whether the torques of the motors ripple: by 5 %, and by 0.2 % of the limits.
    """

    label: str
    masses: float = 1.0
    friction: float = 1.0
    has_gears: bool = False
    delay: int = 0
    encoder_bits: int | None = None
    is_differenced_by_robot: bool = False
    ripple: bool = False

    def model(self, arm: Robot) -> Robot:
        """Return what the node takes the arm for."""
        return with_coulomb(arm, GEAR_FRICTION) if self.has_gears else arm

    def plant(self, arm: Robot) -> Robot:
        """Return the arm that there is."""
        return scale_masses(scale_friction(self.model(arm), self.friction), self.masses)


def _everything(masses: float) -> Case:
    return Case(
        f'all of it, masses {100.0 * (masses - 1.0):+.0f} %',
        masses=masses,
        friction=2.0,
        has_gears=True,
        delay=5,
        encoder_bits=16,
        ripple=True,
    )


CASES: Mapping[str, Case] = {
    'heavy': Case('masses +20 %', masses=1.2),
    'light': Case('masses -30 %', masses=0.7),
    'friction': Case('friction twice', friction=2.0, has_gears=True),
    'delay': Case('commands late by 10 ms', delay=5),
    'encoder': Case('16-bit encoders, `velocity_source: differentiated`', encoder_bits=16),
    'robot_encoder': Case(
        '16-bit encoders, differenced by the robot, `observer.velocity_lag: 0.0063`',
        encoder_bits=16,
        is_differenced_by_robot=True,
    ),
    'ripple': Case('torque ripple', ripple=True),
    'all_heavy': _everything(1.2),
    'all_light': _everything(0.7),
}

LAWS = ('pd_gravity', 'computed_torque', 'observer')
LABELS = {
    'pd_gravity': 'PD + gravity',
    'computed_torque': 'computed torque',
    'observer': 'computed torque with the observer',
}


class Errors(NamedTuple):
    """What a run came to: RMS over all joints while moving, largest at rest [rad]."""

    moving: float
    at_rest: float


def law_parameters(law: str, model: Robot, motion: WaypointMotion) -> dict[str, object]:
    """Return the node's parameters for a law of the study."""
    parameters: dict[str, object] = {'computed_torque.kp': [KP], 'computed_torque.kv': [KV]}
    if law == 'pd_gravity':
        kp, kv = fair_gains(model, motion, KP, KV)
        parameters |= {'mode': 'feedforward_pd', 'feedforward_pd.kp': kp, 'feedforward_pd.kv': kv}
        parameters |= {f'terms.{term}': False for term in ('coriolis', 'inertia', 'friction')}
    if law == 'observer':
        parameters['observer.mode'] = 'compensate'
    return parameters


def run_case(
    case: Case, law: str, motion: WaypointMotion, rest: float = REST, **parameters: object
) -> Errors:
    """Run the motion once, and let the arm rest.

    Parameters
    ----------
    case : Case
    law : str
        Of `LAWS`.
    motion : WaypointMotion
    rest : float
        [s]
    **parameters
        Of the node, beside those.
    """
    arm = shipped_arm()
    model, plant = case.model(arm), case.plant(arm)
    chosen = {**NOTHING_IS_GIVEN_UP, **law_parameters(law, model, motion), **parameters}
    sensors = []
    if case.encoder_bits is not None:
        sensors = [encoder(case.encoder_bits)]
        if case.is_differenced_by_robot:
            sensors.append(differenced_velocity(30.0))
            chosen['observer.velocity_lag'] = 0.0063
        else:
            chosen['velocity_source'] = 'differentiated'
    controller = node_controller(model, **chosen)
    simulated = MujocoArm(plant, period=PERIOD, integrator='implicitfast')
    simulated.reset(motion.positions[0])
    loop = OneProcessLoop(
        simulated,
        controller,
        sensors=sensors,
        disturbances=[torque_ripple(0.05, 0.002)] if case.ripple else [],
        delay=case.delay,
        effort_limits=model.limits('effort_limit'),
    )
    loop.run(0.1)
    controller.motion.follow(motion.waypoints())
    moving = loop.run(motion.duration).error
    resting = loop.run(rest).error[-round(AT_REST / PERIOD) :]
    return Errors(float(np.sqrt(np.mean(moving**2))), float(np.abs(resting).max()))


# ---- joints that give


ELASTIC_FREQUENCIES = (15.0, 15.0, 15.0, 40.0, 40.0, 40.0)
"""Of the joints with their motors locked [Hz]."""

ELASTIC_PERIOD = 0.004
"""Of the states [s]."""

SMALLEST_MOTOR = 0.03
"""[kg m^2]"""


class Vibration(NamedTuple):
    """What an arm does that is to stand still.

    Attributes
    ----------
    gain : float
        kv [1/s]; kp is a quarter of its square.
    moving : float
        RMS error [rad].
    swing : float
        How far it goes to and fro in the last second [rad].
    remarks : list of str
        What the node has to say of the gains.
    """

    gain: float
    moving: float
    swing: float
    remarks: list[str]


def largest_gain(period: float, cutoff: float) -> float:
    """Return the largest kv that the node takes without a warning [1/s].

    Parameters
    ----------
    period : float
        Of the states [s].
    cutoff : float
        Of the observer that compensates [Hz]; 0 for none.
    """
    return largest_damping_rate(period) - 4.0 * np.pi * cutoff


def run_elastic(
    motion: WaypointMotion,
    gain: float,
    *,
    compensates: bool,
    masses: float = 1.0,
    motors: float = 1.0,
    frequencies: Sequence[float] = ELASTIC_FREQUENCIES,
) -> Vibration:
    """Run the motion on an arm with elastic joints, and let it rest for 3 s.

    Parameters
    ----------
    motion : WaypointMotion
    gain : float
        kv [1/s]
    compensates : bool
    masses : float
        Of the links, by those of the model.
    motors : float
        Inertia of the motors by the links', where the motion begins.
    frequencies : sequence of float
        Of the joints with their motors locked [Hz].
    """
    arm = shipped_arm()
    inertia = np.diag(Dynamics(arm, backend='python').mass_matrix(motion.positions[0]))
    rotors = motors * np.maximum(inertia, SMALLEST_MOTOR)
    model = replace(
        arm,
        joints=tuple(
            replace(joint, rotor_inertia=float(rotor), gear_ratio=1.0)
            for joint, rotor in zip(arm.joints, rotors, strict=True)
        ),
    )
    controller = node_controller(
        model,
        **NOTHING_IS_GIVEN_UP,
        **{
            'computed_torque.kp': [0.25 * gain * gain],
            'computed_torque.kv': [gain],
            'observer.mode': 'compensate' if compensates else 'off',
        },
    )
    simulated = ElasticArm(
        scale_masses(model, masses), frequencies, motion.positions[0], ELASTIC_PERIOD
    )
    loop = OneProcessLoop(simulated, controller, effort_limits=model.limits('effort_limit'))
    loop.run(0.1)
    controller.motion.follow(motion.waypoints())
    moving = loop.run(motion.duration).error
    verdict = controller.check.find_verdict(controller.tuning)
    resting = loop.run(3.0).position[-round(1.0 / ELASTIC_PERIOD) :]
    return Vibration(
        gain,
        float(np.sqrt(np.mean(moving**2))),
        float(np.ptp(resting, axis=0).max()),
        [*verdict.refusals, *verdict.remarks],
    )


# ---- friction that is larger at rest


STICTION_PERIOD = 0.001
"""Of the states, and of the friction [s]."""

STICTION_FRICTION = 0.02
"""In motion, by the effort limits; the model has none of it."""

STICTION_ROTORS = (1.0, 1.0, 0.6, 0.15, 0.15, 0.1)
"""Rotor inertias as the joints feel them, which the model has [kg m^2]."""


class Rest(NamedTuple):
    """How an arm rests: its largest error, and how far a joint goes to and fro [rad]."""

    error: float
    swing: float


def run_stiction(motion: WaypointMotion, breakaway: float, mode: str, rest: float = 12.0) -> Rest:
    """Run the motion against friction with bristles, and judge the second half of the rest.

    Parameters
    ----------
    motion : WaypointMotion
    breakaway : float
        Friction at rest by that in motion.
    mode : str
        Of the observer.
    rest : float
        [s]
    """
    arm = shipped_arm()
    model = replace(
        arm,
        joints=tuple(
            replace(joint, rotor_inertia=rotor, gear_ratio=1.0)
            for joint, rotor in zip(arm.joints, STICTION_ROTORS, strict=True)
        ),
    )
    limits = model.limits('effort_limit')
    inertia = np.diag(Dynamics(model, backend='python').mass_matrix(motion.positions[0]))
    controller = node_controller(model, **NOTHING_IS_GIVEN_UP, **{'observer.mode': mode})
    simulated = MujocoArm(model, period=STICTION_PERIOD, integrator='implicitfast')
    simulated.reset(motion.positions[0])
    stiction = Stiction(STICTION_FRICTION * limits, breakaway, inertia)
    loop = OneProcessLoop(simulated, controller, disturbances=[stiction], effort_limits=limits)
    loop.run(0.1)
    controller.motion.follow(motion.waypoints())
    loop.run(motion.duration)
    error = loop.run(rest).error[-round(0.5 * rest / STICTION_PERIOD) :]
    return Rest(float(np.abs(error).max()), float(np.ptp(error, axis=0).max()))


# ---- contacts


PUSH = 0.1
"""By the effort limits."""

CONTACT_MASSES = 1.02
"""Of the arm, by those of the model."""


def fast_motions(robot: Robot, seed: int) -> Iterator[WaypointMotion]:
    """Yield motions between random poses, one joint at 0.9 of its velocity or effort limit."""
    rng = np.random.default_rng(seed)
    dynamics = Dynamics(robot)
    speeds, efforts = robot.limits('velocity_limit'), robot.limits('effort_limit')
    start = np.zeros(robot.n)
    while True:
        end = rng.uniform(-1.5, 1.5, robot.n)
        # The fastest moment of the quintic is 15/8 of its mean.
        duration = float((1.875 * np.abs(end - start) / (0.9 * speeds)).max())
        while True:
            motion = rest_to_rest(robot, start, end, duration)
            needed = dynamics.inverse_dynamics(*motion.sample(np.linspace(0.0, duration, 40)))
            if (np.abs(needed) <= 0.9 * efforts).all():
                break
            duration *= 1.1
        yield motion
        start = end


class _MovingArm:
    """The arm under fast motions, one after the other, each state judged."""

    def __init__(self, mode: str, seed: int) -> None:
        self.robot = shipped_arm()
        self.controller = node_controller(
            self.robot, **NOTHING_IS_GIVEN_UP, **{'observer.mode': mode}
        )
        arm = MujocoArm(
            scale_masses(self.robot, CONTACT_MASSES), period=PERIOD, integrator='implicitfast'
        )
        arm.reset(np.zeros(self.robot.n))
        self.loop = OneProcessLoop(arm, self.controller)
        self._motions = fast_motions(self.robot, seed)
        self._left = 0.0

    def step(self) -> bool:
        """Go on by a period; return whether something seems to touch the arm."""
        if self._left <= 0.0:
            motion = next(self._motions)
            self.controller.motion.follow(motion.waypoints())
            self._left = motion.duration
        self._left -= PERIOD
        self.loop.step()
        return bool(self.controller.observer.observed.is_in_contact)


def count_false_alarms(seconds: float, mode: str = 'estimate', seed: int = 1) -> int:
    """Return how many contacts are seen in fast motions that touch nothing."""
    arm = _MovingArm(mode, seed)
    seen = [arm.step() for _ in range(round(seconds / PERIOD))]
    return int(np.count_nonzero(np.diff(np.array([False, *seen]).astype(int)) > 0))


def time_to_contact(
    joint: int, sign: float, mode: str = 'estimate', seed: int = 1, before: float = 5.0
) -> float:
    """Return after what time a push of `PUSH` is seen in the middle of fast motions [s].

    Infinite when it is not in 0.2 s.

    Parameters
    ----------
    joint : int
    sign : float
        +1 or -1.
    mode : str
        Of the observer.
    seed : int
        Of the motions.
    before : float
        For how long the arm has moved [s].
    """
    arm = _MovingArm(mode, seed)
    for _ in range(round(before / PERIOD)):
        if arm.step():
            return np.nan
    push = np.zeros(arm.robot.n)
    push[joint] = sign * PUSH * arm.robot.joints[joint].effort_limit
    arm.loop.disturbances.append(external_push(push))
    begin = arm.loop.arm.time
    while arm.loop.arm.time < begin + 0.2:
        if arm.step():
            # The state that has shown it is the one before the step.
            return float(arm.loop.arm.time - PERIOD - begin)
    return np.inf


# ---- the document

BEGIN, END = '<!-- {}: written by make observer-study -->', '<!-- end of {} -->'

CUTOFF = PARAMETERS.defaults.observer.cutoff_frequency


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ['---'] * len(header), *rows]
    return '\n'.join(f'| {" | ".join(line)} |' for line in lines)


def table_of_errors() -> str:
    """Return the errors of all cases by all laws."""
    motion = demo_motion(shipped_arm(), DURATION)
    rows = []
    for case in CASES.values():
        found = [run_case(case, law, motion) for law in LAWS]
        print(case.label, *found, file=sys.stderr, flush=True)
        cells = [f'{figure(1e3 * one.moving)}, {figure(1e3 * one.at_rest)}' for one in found]
        rows.append([case.label, *cells])
    header = ['moving (RMS), at rest (largest) [mrad]', *(LABELS[law] for law in LAWS)]
    return _markdown(header, rows)


def table_of_elastic_joints() -> str:
    """Return what elastic joints do at the largest gains."""
    motion = demo_motion(shipped_arm(), DURATION)
    rows = []
    for motors in (1.0, 2.0):
        for masses in (1.0, 1.2):
            for compensates in (False, True):
                gain = largest_gain(ELASTIC_PERIOD, CUTOFF if compensates else 0.0) - 0.1
                found = run_elastic(
                    motion, gain, compensates=compensates, masses=masses, motors=motors
                )
                rows.append(
                    [
                        f'{motors:g}',
                        f'{100.0 * (masses - 1.0):+.0f} %',
                        'compensate' if compensates else 'off',
                        f'{gain:.3g}',
                        figure(1e3 * found.moving),
                        figure(1e3 * found.swing),
                    ]
                )
    header = [
        "motors' inertia by the links'",
        'masses',
        '`observer.mode`',
        'kv [1/s]',
        'RMS error moving [mrad]',
        'swing at rest [mrad]',
    ]
    return _markdown(header, rows)


def table_of_stiction() -> str:
    """Return how the arm rests where friction is larger at rest."""
    motion = demo_motion(shipped_arm(), DURATION)
    rows = []
    for breakaway in (1.0, 1.25, 1.5, 2.0):
        off, on = (run_stiction(motion, breakaway, mode) for mode in ('off', 'compensate'))
        cells = [figure(1e3 * value) for value in (off.error, on.error, on.swing)]
        rows.append([f'{breakaway:g}', *cells])
    header = [
        'friction at rest by that in motion',
        'error at rest [mrad], `off`',
        '`compensate`',
        'to and fro [mrad], `compensate`',
    ]
    return _markdown(header, rows)


def table_of_contacts(minutes: float = 10.0) -> str:
    """Return how soon pushes are seen, and what else is taken for one."""
    n = shipped_arm().n
    rows = []
    for mode in ('estimate', 'compensate'):
        times = [
            time_to_contact(joint, sign, mode, seed)
            for seed in range(1, 6)
            for joint in range(n)
            for sign in (1.0, -1.0)
        ]
        alarms = count_false_alarms(60.0 * minutes, mode)
        middle, largest = 1e3 * np.median(times), 1e3 * np.max(times)
        rows.append([mode, f'{middle:.0f}', f'{largest:.0f}', str(alarms)])
    header = [
        '`observer.mode`',
        'push seen after, median [ms]',
        'largest [ms]',
        f'false alarms in {minutes:g} minutes',
    ]
    return _markdown(header, rows)


TABLES = {
    'errors': table_of_errors,
    'stiction': table_of_stiction,
    'elastic joints': table_of_elastic_joints,
    'contacts': table_of_contacts,
}


def replace_table(text: str, name: str, table: str) -> str:
    """Return a document with another table between the markers of that name.

    Raises
    ------
    ValueError
        When the markers are not there.
    """
    begin, end = BEGIN.format(name), END.format(name)
    before, after = text.index(begin) + len(begin), text.index(end)
    return f'{text[:before]}\n\n{table}\n\n{text[after:]}'


def main() -> None:
    """Write the tables of a document anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('document', type=Path)
    parser.add_argument('--only', choices=TABLES, help='one of the tables')
    arguments = parser.parse_args()
    document: Path = arguments.document
    for name in [arguments.only] if arguments.only else TABLES:
        table = TABLES[name]()
        text = document.read_text(encoding='utf-8')
        write_whole(document, replace_table(text, name, table))


if __name__ == '__main__':
    main()
