"""Gains that were computed, tried: random arms in MuJoCo in random poses, with sampled sensors.

Each trial draws a pose that the motors can hold, the mass of each link and rotor within the
uncertainty, a payload, and friction or none. The arm stands beside what is desired, the brakes
open, and the loop has to bring it there: positions in steps of the encoders, velocities by the
filter of the loop, efforts late by the dead time and within the limits. The laws are those of the
node (:class:`~ne_dynamics.control.laws.ControlLaw`), a PID as control_toolbox computes it, and a
PD at the rate of drives; feed-forward is the model's gravity, which is as wrong as the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ne_dynamics.control import ControlLaw, Gains, PositionVelocity, VelocitySource
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.gains import RAW, SETTLED, GainDesign, GainMode, GainRequest
from ne_dynamics.gains.designed_gains import ModeDesign
from ne_dynamics.json_numbers import finite_or_none
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.motion import DesiredState
from ne_dynamics.simulation.altered_robot import with_hung_mass
from ne_dynamics.simulation.elastic_arm import ElasticArm
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import (
    OneProcessLoop,
    SensorReading,
    stepped_positions,
)
from ne_dynamics.simulation.thresholds import SIMULATION


@dataclass(frozen=True, eq=False)
class Trial:
    """Result of the simulation of one arm.

    Attributes
    ----------
    mode : GainMode
    pose : array, shape (n,)
        Desired position [rad or m].
    payload : float
        [kg]
    outcome : str
        'settled', 'swings' or 'diverged'.
    times : array, shape (K,)
        [s]
    error : array, shape (K, n)
        Desired minus true position of the motors [rad or m].
    beyond : array, shape (n,)
        Overshoot of each joint beyond its target [rad or m].
    predicted_beyond : array, shape (n,)
        Largest predicted overshoot, from overshoot, other joints and sag [rad or m].
    settled_error : array, shape (n,)
        Mean error in the last part [rad or m].
    """

    mode: GainMode
    pose: FloatArray
    payload: float
    outcome: str
    times: FloatArray
    error: FloatArray
    beyond: FloatArray
    predicted_beyond: FloatArray
    settled_error: FloatArray


@dataclass(frozen=True, eq=False)
class Proof:
    """Results of the simulated trials of one mode.

    Attributes
    ----------
    mode : GainMode
    factor : float
        Factor on the gains of the design.
    trials : tuple of Trial
    sag : array, shape (n,)
        Largest predicted sag [rad or m].
    """

    mode: GainMode
    factor: float
    trials: tuple[Trial, ...]
    sag: FloatArray

    def count(self, outcome: str) -> int:
        """Return the number of trials with this outcome."""
        return sum(trial.outcome == outcome for trial in self.trials)

    @property
    def settled_share(self) -> float:
        """Largest error of the trials that settled, divided by the predicted one.

        The predicted error of a joint is its sag, but at least a part of its first error.
        """
        found = [
            np.abs(trial.settled_error) / _not_zero(self.sag, trial)
            for trial in self.trials
            if trial.outcome == 'settled'
        ]
        return float(np.max(found)) if found else float('nan')

    @property
    def overshoot_share(self) -> float:
        """Largest overshoot beyond the target, divided by the predicted one."""
        found = [
            trial.beyond / np.maximum(trial.predicted_beyond, SIMULATION.trial_least_error)
            for trial in self.trials
            if trial.outcome == 'settled'
        ]
        return float(np.max(found)) if found else float('nan')

    def as_json(self) -> dict[str, object]:
        """Return the results as data for JSON."""
        return {
            'trials': len(self.trials),
            'factor': self.factor,
            **{each: self.count(each) for each in ('settled', 'swings', 'diverged')},
            'settled_by_predicted': finite_or_none(self.settled_share),
            'overshoot_by_predicted': finite_or_none(self.overshoot_share),
        }


def _not_zero(sag: FloatArray, trial: Trial) -> FloatArray:
    least: FloatArray = np.maximum(SIMULATION.trial_least_error, SETTLED * np.abs(trial.error[0]))
    return np.maximum(sag, least)


def draw_arm(
    robot: Robot, request: GainRequest, rng: np.random.Generator, factor: float | None = None
) -> tuple[Robot, float]:
    """Return an arm within the uncertainty, and its payload [kg].

    Each mass is either at an end of its range, or anywhere in it; so is the payload. With a
    `factor` all masses have that one, and the payload is the largest where it is above 1, else
    the least.
    """
    u = request.uncertainty
    least, largest = request.payload_range

    def draw() -> float:
        if factor is not None:
            return factor
        return float(rng.choice((1.0 - u, 1.0 + u, rng.uniform(1.0 - u, 1.0 + u))))

    links = [replace(link, inertia=link.inertia.scaled(draw())) for link in robot.links]
    has_friction = factor is None and bool(rng.integers(0, 2))
    joints = []
    for joint in robot.joints:
        friction = draw() if has_friction else 0.0
        joints.append(
            replace(
                joint,
                rotor_inertia=draw() * joint.rotor_inertia,
                viscous_friction=friction * joint.viscous_friction,
                coulomb_friction=friction * joint.coulomb_friction,
            )
        )
    drives = []
    for drive in robot.coupled_drives:
        friction = draw() if has_friction else 0.0
        drives.append(drive.scaled(draw(), friction))
    arm = replace(robot.with_links(links), joints=tuple(joints), coupled_drives=tuple(drives))
    payload = float(rng.choice((least, largest, rng.uniform(least, largest))))
    if factor is not None:
        payload = largest if factor > 1.0 else least
    if payload > 0.0:
        arm = with_hung_mass(arm, payload, np.asarray(request.payload_center, np.float64))
    return arm, payload


class _Law:
    """The law of a mode, with the velocity that it uses: it answers once in several steps."""

    def __init__(
        self,
        design: GainDesign,
        dynamics: Dynamics,
        mode: GainMode,
        factor: float,
        pose: FloatArray,
        ticks: int,
    ) -> None:
        choice = design.of(mode).choice
        request, robot = design.request, dynamics.robot
        self._gains = choice.gains.scaled(factor)
        self._period = choice.kind.timing.period
        self._time, self._steps, self._ticks = 0.0, 0, ticks
        self._effort = np.zeros(dynamics.n)
        self._goal = pose
        still = np.zeros(dynamics.n)
        self._desired = DesiredState(pose, still, still)
        self._feedforward = np.asarray(dynamics.gravity_torque(pose), dtype=np.float64)
        self._law = None
        if mode.is_of_node:
            self._law = ControlLaw(
                dynamics, mode.value, Gains.from_values(self._gains.kp, self._gains.kd, robot.n)
            )
        self._velocity: PositionVelocity | None = None
        source = VelocitySource(request.velocity_source)
        if source is not VelocitySource.MEASURED:
            cutoff = choice.kind.cutoff if mode.is_of_node else RAW
            source = source if mode.is_of_node else VelocitySource.DIFFERENTIATED
            self._velocity = PositionVelocity(robot.joints, source, cutoff)
        self._sum = np.zeros(dynamics.n)
        self._clamp = np.full(dynamics.n, np.inf)
        if mode is GainMode.JTC and self._gains.ki.any():
            block = design.jtc_gains()
            self._clamp = np.array(
                [block[name].get('i_clamp_max', 0.0) for name in robot.joint_names]
            )

    def __call__(self, reading: SensorReading) -> FloatArray:
        """Return the effort that answers a state, or the last one that was answered."""
        is_due = self._steps % self._ticks == 0
        self._steps += 1
        if is_due and reading.velocity is not None:
            used = reading.velocity
            if self._velocity is not None:
                used = self._velocity.update(reading.position, self._time)
            self._time += self._period
            if self._law is not None:
                self._effort = self._law.effort(reading.position, used, self._desired)
            else:
                self._effort = self._answer_as_drive(reading.position, used)
        return self._effort

    def _answer_as_drive(self, position: FloatArray, velocity: FloatArray) -> FloatArray:
        error = self._goal - position
        effort: FloatArray = (
            self._feedforward + self._gains.kp * error - self._gains.kd * velocity + self._sum
        )
        self._sum = np.clip(
            self._sum + self._period * self._gains.ki * error, -self._clamp, self._clamp
        )
        return effort


def _make_arm(
    robot: Robot, request: GainRequest, period: float, start: FloatArray
) -> tuple[MujocoArm, int]:
    """Return the arm at a position, and how often it is stepped in a period."""
    stiffness = request.joint_stiffness(robot.joints)
    if stiffness is None:
        ticks = 4  # the dead time is rounded up to one
        arm = MujocoArm(robot, period=period / ticks, substeps=1)
        arm.reset(start)
        return arm, ticks
    ticks = round(period / SIMULATION.spring_step)
    if ticks < 1 or abs(ticks * SIMULATION.spring_step - period) > 1e-9:
        raise InputError(
            f'rate: expected periods that are multiples of {1e3 * SIMULATION.spring_step:g} ms to '
            f'simulate elastic joints, got {1e3 * period:.4g} ms'
        )
    links = robot.with_joint_values('rotor_inertia', np.zeros(robot.n))
    inertia = np.diag(Dynamics(links, backend='python').mass_matrix(start))
    rates = np.sqrt(stiffness / inertia) / (2.0 * np.pi)
    elastic = ElasticArm(
        robot,
        rates,
        start,
        period=SIMULATION.spring_step,
        damping_ratio=request.elastic_damping_ratio,
    )
    return elastic, ticks


def run_trial(
    design: GainDesign,
    dynamics: Dynamics,
    mode: GainMode,
    pose: FloatArray,
    arm_robot: Robot,
    payload: float,
    rng: np.random.Generator,
    factor: float = 1.0,
) -> Trial:
    """Return what an arm does that stands beside a pose, shape (n,) [rad or m].

    Dynamics are those of the model; `arm_robot` is what is simulated, with its payload [kg]; the
    gains are larger by the factor.
    """
    one, request = design.of(mode), design.request
    timing = one.choice.kind.timing
    limits = request.limits(dynamics.robot.joints)
    offset = _largest_offset(one, dynamics, pose, limits) * rng.choice((-1.0, 1.0), dynamics.n)
    holding = np.clip(dynamics.gravity_torque(pose), -limits, limits)
    arm, ticks = _make_arm(arm_robot, request, timing.period, pose - offset)
    steps = request.position_steps(dynamics.n)
    loop = OneProcessLoop(
        arm,
        _Law(design, dynamics, mode, factor, pose, ticks),
        sensors=[stepped_positions(steps)],
        # A command begins to act when it has been late for so many ticks.
        delay=int(np.ceil(timing.dead_time / timing.period * ticks - 1e-6)),
        effort_limits=limits,
        first_effort=holding,
    )
    begin = np.abs(offset) + one.sag
    count, largest = round(_duration(one) / timing.period), SIMULATION.diverged_times * begin
    has_diverged = _has_diverged(loop, pose, count, ticks, largest)
    found = loop.recording()
    errors, commands = pose - found.position[::ticks], found.command[::ticks]
    times: FloatArray = timing.period * np.arange(len(errors), dtype=np.float64)
    last = errors[-max(2, round(SIMULATION.trial_last_part * len(errors))) :]
    outcome = 'diverged'
    if not has_diverged:
        swing, shaking = np.ptp(last, axis=0), np.ptp(commands[-len(last) :], axis=0)
        largest, noise = _bound_unrest(begin, steps, limits, one.noise)
        outcome = 'settled' if (swing <= largest).all() and (shaking <= noise).all() else 'swings'
    predicted = _predict_beyond(one, np.abs(offset))
    beyond = np.maximum((-np.sign(offset) * errors).max(axis=0), 0.0)
    return Trial(mode, pose, payload, outcome, times, errors, beyond, predicted, last.mean(axis=0))


def _has_diverged(
    loop: OneProcessLoop, pose: FloatArray, count: int, ticks: int, largest: FloatArray
) -> bool:
    """Run for so many periods, of so many ticks; return whether an error became larger."""
    for _ in range(count):
        if (np.abs(pose - loop.arm.position) > largest).any():
            return True
        try:
            for _ in range(ticks):
                loop.step()
        except InputError:
            return True
    return False


def _bound_unrest(
    begin: FloatArray, steps: FloatArray, limits: FloatArray, noise: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return by how much errors and commands of an arm that has settled vary at most.

    By joint: the first error and the sag [rad or m], the steps of the encoders [rad or m], effort
    limits and what a step moves [N m or N].
    """
    swing = SIMULATION.swinging_share * begin + 4.0 * steps
    return swing, SIMULATION.shaking_share * limits + SIMULATION.noisy_steps * noise


def _largest_offset(
    one: ModeDesign, dynamics: Dynamics, pose: FloatArray, limits: FloatArray
) -> FloatArray:
    """Return how far from the pose a trial may begin, shape (n,) [rad or m]."""
    weight = np.ones(dynamics.n)
    if one.choice.kind.weights is not None:
        weight = np.diag(dynamics.mass_matrix(pose))
    largest: FloatArray = np.minimum(
        SIMULATION.trial_effort_share * limits / (one.choice.gains.kp * weight),
        SIMULATION.trial_largest_offset,
    )
    return largest


def _duration(one: ModeDesign) -> float:
    """Return how long a trial takes [s]."""
    settling = one.steps.settling_time
    longest = np.where(np.isfinite(settling), settling, SIMULATION.longest_trial).max()
    return float(np.clip(1.6 * longest, SIMULATION.shortest_trial, SIMULATION.longest_trial))


def _predict_beyond(one: ModeDesign, size: FloatArray) -> FloatArray:
    """Return how far joints go beyond what they are to reach, from so far away [rad or m]."""
    response = one.steps
    return (
        response.overshoot * size + response.coupling @ size + (1.0 + response.overshoot) * one.sag
    )


def prove_gains(
    design: GainDesign,
    dynamics: Dynamics,
    mode: GainMode | str,
    count: int,
    *,
    factor: float = 1.0,
    seed: int = 1,
    progress: Callable[[], None] | None = None,
) -> Proof:
    """Simulate designed gains on random arms within the uncertainty; worst cases come first.

    Parameters
    ----------
    design : GainDesign
    dynamics : Dynamics
        Dynamics of the model that the design was made for.
    mode : GainMode or str
    count : int
        Number of arms.
    factor : float
        Factor on the gains.
    seed : int
    progress : callable, optional
        Called after each arm.
    """
    asked = GainMode(mode)
    one, request, plants = design.of(asked), design.request, design.plants
    if count < 1:
        raise InputError(f'trials: expected at least 1, got {count}')
    rng = np.random.default_rng(seed)
    margins = one.choice.margins
    poses = len(plants.poses)
    worst = [int(margins.gain.argmin()), int(margins.phase.argmin())]
    trials = []
    for number in range(count):
        if number < len(worst):
            u = request.uncertainty
            scale = 1.0 - u if worst[number] < poses else 1.0 + u
            pose = plants.poses[worst[number] % poses]
            arm, payload = draw_arm(dynamics.robot, request, rng, scale)
        else:
            pose = plants.poses[int(rng.integers(poses))]
            arm, payload = draw_arm(dynamics.robot, request, rng)
        trials.append(run_trial(design, dynamics, asked, pose, arm, payload, rng, factor))
        if progress is not None:
            progress()
    return Proof(asked, factor, tuple(trials), one.sag)
