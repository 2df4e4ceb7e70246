"""Every published form on a robot of the user's: efforts, agreement, counts, times."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ne_dynamics.codegen.symbols import OperationCount
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.model.orientation import roll_pitch_yaw
from ne_dynamics.model.robot import FloatArray, Robot
from ne_dynamics.papers.counting.counting_scalars import count_operations
from ne_dynamics.papers.forms import FORMULATIONS, Formulation, strobing
from ne_dynamics.papers.forms.arm import Arm, DHLink
from ne_dynamics.papers.forms.fitted_arm import fit_arm, require_chain, to_modified
from ne_dynamics.papers.forms.generic_scalars import Scalar, Scalars
from ne_dynamics.papers.forms.recovered_arm import arm_from_robot
from ne_dynamics.papers.forms.rk4 import SimulatedMotion, simulate
from ne_dynamics.papers.studies.report import (
    DISAGREEMENT,
    Progress,
    ReportTable,
    StudyReport,
    ignore_progress,
    list_disagreements,
)
from ne_dynamics.printable import escape_controls

NAME = 'forms'
GRAVITY = (0.0, 0.0, -9.80665)
NOTHING = OperationCount()


SOLVED_DISAGREEMENT = 1e-8
"""The same of solutions with the mass matrix, which may be near singular."""

_SOLVED = ('forward dynamics', 'positions after a simulation', 'velocities after a simulation')

STEP = 0.001
"""Of the simulations that are compared [s]."""


class FormMotion(NamedTuple):
    """One motion.

    Attributes
    ----------
    q, qd, qdd : array, shape (n,)
    """

    q: FloatArray
    qd: FloatArray
    qdd: FloatArray


class Arms(NamedTuple):
    """A robot as an arm of the published forms.

    Attributes
    ----------
    own, standard, modified : Arm
        In the convention of its file, or in standard frames; in both conventions.
    is_fitted : bool
        Whether the frames are ours.
    """

    own: Arm
    standard: Arm
    modified: Arm
    is_fitted: bool


class FormResult(NamedTuple):
    """What one form gives for a robot.

    Attributes
    ----------
    name : str
    refusals : tuple of str
        What the robot has and the form does not take; empty when it takes all.
    efforts : array, shape (n,), or None
        With friction and rotors.
    disagreement : float
        Of the efforts from the production recursion's, relative to the largest, or to the
        largest that one unit of acceleration takes where all are smaller.
    naive, skipping : OperationCount
        Operations on this arm, as the authors count and without products with 0 and 1.
    seconds : float
        Median time of a call on Python floats.
    """

    name: str
    refusals: tuple[str, ...] = ()
    efforts: FloatArray | None = None
    disagreement: float = 0.0
    naive: OperationCount = NOTHING
    skipping: OperationCount = NOTHING
    seconds: float = 0.0


def choose_motion(
    robot: Robot,
    seed: int = 0,
    q: Sequence[float] | None = None,
    qd: Sequence[float] | None = None,
    qdd: Sequence[float] | None = None,
) -> FormMotion:
    """Return a motion: what is given, the rest at random within the position limits.

    Parameters
    ----------
    robot : Robot
    seed : int
        Seed of the motion.
    q : sequence of n float, optional
        Positions of the motion, one a joint [rad or m]; default: at random.
    qd : sequence of n float, optional
        Velocities of the motion, one a joint [per s]; default: at random.
    qdd : sequence of n float, optional
        Accelerations of the motion, one a joint [per s^2]; default: at random.

    Raises
    ------
    InputError
        When a given vector is not of n finite numbers.
    """
    rng = np.random.default_rng(seed)
    n = robot.n
    reach = np.array([0.3 if joint.type.is_prismatic else np.pi for joint in robot.joints])
    lower = np.maximum([joint.lower for joint in robot.joints], -reach)
    upper = np.minimum([joint.upper for joint in robot.joints], reach)
    # Limits that lie beyond the reach altogether leave their nearest point.
    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    drawn = {
        'q': rng.uniform(lower, upper),
        'qd': rng.uniform(-1.0, 1.0, n),
        'qdd': rng.uniform(-1.0, 1.0, n),
    }
    for name, given in (('q', q), ('qd', qd), ('qdd', qdd)):
        if given is None:
            continue
        values = np.array(given, dtype=np.float64)
        if values.shape != (n,):
            raise InputError(f'{name}: expected {n} numbers, one a joint, got {len(given)}')
        if not np.isfinite(values).all():
            raise InputError(f'{name}: expected finite numbers, got {values.tolist()}')
        drawn[name] = values
    return FormMotion(**drawn)


def find_arms(robot: Robot) -> Arms:
    """Return a robot as an arm in both conventions.

    The frames of a Denavit-Hartenberg file are kept in its own convention; other robots get
    fitted frames.

    Raises
    ------
    ModelError
        When the robot is no chain.
    """
    require_chain(robot)
    try:
        own = arm_from_robot(robot)
    except ModelError:
        own = fit_arm(robot)
        return Arms(own, own, to_modified(own), is_fitted=True)
    if own.convention == 'standard':
        return Arms(own, own, to_modified(own), is_fitted=False)
    return Arms(own, fit_arm(robot), own, is_fitted=False)


def study(
    robot: Robot,
    motion: FormMotion,
    progress: Progress = ignore_progress,
    *,
    timed_seconds: float = 0.03,
    simulation_steps: int = 50,
) -> StudyReport:
    """Run every published form on a robot.

    Parameters
    ----------
    robot : Robot
        Of any kind; what a form cannot take is said in its row.
    motion : FormMotion
    progress : Progress
    timed_seconds : float
        For how long each form is timed [s].
    simulation_steps : int
        Of the simulations that are compared.
    """
    if robot.n == 0:
        raise ModelError(f'robot {robot.name!r}: expected at least one joint that moves, got none')
    production = Dynamics(robot, gravity=GRAVITY, backend='python')
    expected = production.inverse_dynamics(*motion)
    rotors = robot.joint_values('reflected_inertia')
    friction = production.friction_torque(motion.qd, q=motion.q)
    steps = len(FORMULATIONS) + 1
    arms: Arms | None = None
    disagreements: tuple[str, ...] = ()
    try:
        arms = find_arms(robot)
    except ModelError as error:
        refusal = str(error)
    results = []
    for index, form in enumerate(FORMULATIONS.values()):
        if arms:
            is_standard = form.covers.convention == 'standard'
            arm = arms.standard if is_standard else arms.modified
            results.append(_run_form(form, arm, production, motion, timed_seconds))
        else:
            results.append(FormResult(form.name, (refusal,)))
        progress(index + 1, steps)
    tables = [
        _tabulate_efforts(robot, results, expected, rotors * motion.qdd, friction),
        _tabulate_costs(results, production, motion, timed_seconds),
    ]
    data: dict[str, object] = {
        'robot': robot.name,
        'joints': [joint.name for joint in robot.joints],
        'motion': {key: value.tolist() for key, value in motion._asdict().items()},
        'efforts': expected.tolist(),
        'rotors': (rotors * motion.qdd).tolist(),
        'friction': friction.tolist(),
        'forms': {result.name: _as_data(result) for result in results},
    }
    if arms:
        strobed = _compare_strobing(arms.standard, production, motion, simulation_steps)
        tables += [
            _tabulate_frames(arms.own, arms.is_fitted),
            _tabulate_ends(arms.own),
            _tabulate_strobing(strobed, simulation_steps),
        ]
        data['frames'] = _frames_as_data(arms)
        data['strobing'] = strobed
        found = {each.name: each.disagreement for each in results if each.efforts is not None}
        disagreements = _list_disagreements(found, strobed, production.mass_matrix(motion.q))
    progress(steps, steps)
    return StudyReport(NAME, tuple(tables), data, disagreements=disagreements)


def _list_disagreements(
    efforts: dict[str, float], strobed: dict[str, float], mass_matrix: FloatArray
) -> tuple[str, ...]:
    """Return what forms and strobed quantities differ by more than rounding, as sentences."""
    rounding = 1e3 * np.finfo(np.float64).eps * float(np.linalg.cond(mass_matrix))
    solved = max(SOLVED_DISAGREEMENT, rounding)
    return (
        *list_disagreements(efforts, dict.fromkeys(efforts, DISAGREEMENT)),
        *list_disagreements(
            strobed,
            {name: solved if name in _SOLVED else DISAGREEMENT for name in strobed},
        ),
    )


class _DrivenArm:
    """The links of an arm by a published form, beside it what no document has: other drives.

    Rotors, and friction that is not viscous, are terms of their own, which add up with the efforts
    of the links: ``tau = links + rotors qdd + friction(qd)``.
    """

    def __init__(self, arm: Arm, form: Formulation, production: Dynamics) -> None:
        self.links = arm.rigid()
        self.form = form.inverse_dynamics
        self.production = production
        self.rotors = production.robot.joint_values('reflected_inertia')

    def inverse_dynamics(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        """Return the efforts that a motion takes, shape (n,) [N m or N]."""
        links = self.form(self.links, *(each.tolist() for each in (q, qd, qdd)), gravity=GRAVITY)
        friction: FloatArray = self.production.friction_torque(qd, q=q)
        return np.array(links) + self.rotors * qdd + friction

    def mass_matrix(self, q: FloatArray) -> FloatArray:
        """Return M(q) by strobing, the rotors on its diagonal, shape (n, n)."""
        return np.array(strobing.mass_matrix(self.links, q.tolist(), self.form)) + np.diag(
            self.rotors
        )

    def forward_dynamics(self, q: FloatArray, qd: FloatArray, tau: FloatArray) -> FloatArray:
        """Return the accelerations that efforts give (001 section 7), shape (n,)."""
        known = self.inverse_dynamics(q, qd, np.zeros_like(qd))
        return np.asarray(np.linalg.solve(self.mass_matrix(q), tau - known), dtype=np.float64)


def _run_form(
    form: Formulation, arm: Arm, production: Dynamics, motion: FormMotion, timed_seconds: float
) -> FormResult:
    rigid = arm.rigid()
    refusals = form.covers.missing(rigid)
    if refusals:
        return FormResult(form.name, tuple(refusals))
    lists = [value.tolist() for value in motion]
    efforts = _DrivenArm(arm, form, production).inverse_dynamics(*motion)
    expected = production.inverse_dynamics(*motion)
    naive, skipping = (
        count_operations(
            form.inverse_dynamics, rigid, gravity=GRAVITY, skip_trivial=skip_trivial
        ).total
        for skip_trivial in (False, True)
    )
    return FormResult(
        form.name,
        (),
        efforts,
        _disagreement(efforts, expected, _measure_unit_effort(production, motion)),
        naive,
        skipping,
        _time_call(lambda: form.inverse_dynamics(rigid, *lists, gravity=GRAVITY), timed_seconds),
    )


def _disagreement(found: FloatArray, expected: FloatArray, least_scale: float = 0.0) -> float:
    """Return the largest difference, relative to the largest number expected.

    The scale is at least `least_scale`: numbers that would be zero without rounding have none of
    their own.
    """
    scale = max(float(np.abs(expected).max()), least_scale)
    return float(np.abs(found - expected).max()) / (scale or 1.0)


def _measure_unit_effort(production: Dynamics, motion: FormMotion) -> float:
    """Return the largest effort that accelerations of one unit take [N m or N]."""
    return float(np.abs(production.mass_matrix(motion.q)).sum(axis=1).max())


def _time_call(call: Callable[[], object], seconds: float) -> float:
    """Return the median time of a call [s], measured for so long; at least three calls."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _compare_strobing(
    arm: Arm, production: Dynamics, motion: FormMotion, steps: int
) -> dict[str, float]:
    """Return how far strobing any recursion, and RK4 on it, are from the production methods.

    The simulations are without friction: at rest that of Coulomb has the sign of rounding.
    """
    form = FORMULATIONS['luh_walker_paul']
    driven = _DrivenArm(arm, form, production)
    smooth = Dynamics(production.robot.without_friction(), gravity=GRAVITY, backend='python')
    unit = _measure_unit_effort(production, motion)
    position, rate = motion.q.tolist(), motion.qd.tolist()
    coriolis = strobing.coriolis_matrix(driven.links, position, rate, driven.form)
    gravity = np.array(
        strobing.gravity_torque(driven.links, position, gravity=GRAVITY, formulation=driven.form)
    )
    holding = production.gravity_torque(motion.q)

    def simulate_with(forward: Callable[..., FloatArray]) -> SimulatedMotion:
        def accelerate(_: float, q: Scalars, qd: Scalars) -> list[Scalar]:
            found: list[Scalar] = forward(np.array(q), np.array(qd), holding).tolist()
            return found

        return simulate(accelerate, position, rate, step=STEP, steps=steps)

    ours = simulate_with(smooth.forward_dynamics)
    theirs = simulate_with(_DrivenArm(arm, form, smooth).forward_dynamics)
    bias = production.bias_torque(motion.q, motion.qd)
    effort = production.inverse_dynamics(*motion)
    accelerations = driven.forward_dynamics(motion.q, motion.qd, effort)
    return {
        'mass matrix': _disagreement(
            driven.mass_matrix(motion.q), production.mass_matrix(motion.q)
        ),
        'Coriolis and centrifugal efforts': _disagreement(
            np.array(coriolis) @ motion.qd + gravity, bias, unit
        ),
        'gravity': _disagreement(gravity, holding, unit),
        'forward dynamics': _disagreement(accelerations, motion.qdd, 1.0),
        'positions after a simulation': _disagreement(theirs.q[-1], ours.q[-1], 1.0),
        'velocities after a simulation': _disagreement(theirs.qd[-1], ours.qd[-1], 1.0),
    }


def _tabulate_efforts(
    robot: Robot,
    results: Sequence[FormResult],
    expected: FloatArray,
    rotors: FloatArray,
    friction: FloatArray,
) -> ReportTable:
    def row(name: str, values: FloatArray) -> tuple[str, ...]:
        # Zero without a sign.
        return name, *(f'{value + 0.0:.5g}' for value in values)

    rows = [row('this package', expected)]
    rows += [row(each.name, each.efforts) for each in results if each.efforts is not None]
    rows += [row('of these: rotors', rotors), row('of these: friction', friction)]
    return ReportTable(
        f'{escape_controls(robot.name)}: efforts of one motion [N m or N]',
        ('form', *(escape_controls(joint.name) for joint in robot.joints)),
        rows,
        'No document has rotors, or friction that is not viscous: the forms compute the links, '
        'friction and rotors are added as the terms of their own that they are.',
    )


def _tabulate_costs(
    results: Sequence[FormResult], production: Dynamics, motion: FormMotion, timed_seconds: float
) -> ReportTable:
    multiplications, additions = production.operation_counts()['inverse_dynamics']
    seconds = _time_call(lambda: production.inverse_dynamics(*motion), timed_seconds)
    rows = [
        ('this package', '', '', f'{multiplications}; {additions}', f'{1e6 * seconds:.0f}', '')
    ]
    for each in results:
        if each.refusals:
            rows.append((each.name, '', '', '', '', _say_refusal(each.refusals)))
            continue
        rows.append(
            (
                each.name,
                f'{each.disagreement:.0e}',
                str(each.naive),
                str(each.skipping),
                f'{1e6 * each.seconds:.0f}',
                '',
            )
        )
    return ReportTable(
        'Agreement, operations and time of one call',
        ('form', 'disagreement', 'as written', 'skipping 0 and 1', 'time [us]', 'remark'),
        rows,
        'Disagreement with this package, relative to the largest effort, or to the largest that '
        'accelerations of 1 rad/s^2 or m/s^2 take where all are smaller. Multiplications; '
        'additions, of the links alone; those of this package with friction and rotors. Times on '
        "Python floats, of this package with its backend 'python', median, on this machine now.",
    )


def _say_refusal(refusals: Sequence[str]) -> str:
    more = f'; {len(refusals) - 1} more of the kind' if len(refusals) > 1 else ''
    return f'not for this robot: {escape_controls(refusals[0])}{more}'


def _tabulate_frames(arm: Arm, is_fitted: bool) -> ReportTable:
    rows = [
        (
            escape_controls(link.name),
            'slides' if link.is_prismatic else 'turns',
            *_format_numbers(*_collect_row(link).values()),
        )
        for link in arm.links
    ]
    origin = 'fitted to the joint axes' if is_fitted else 'those of the file'
    return ReportTable(
        f'Denavit-Hartenberg parameters, {arm.convention} [rad, m]',
        ('joint', 'which', 'theta', 'd', 'a', 'alpha'),
        rows,
        f'The frames are {origin}. To theta of a joint that turns, and to d of one that slides, '
        'comes its position.',
    )


def _collect_row(link: DHLink) -> dict[str, float]:
    """Return what the joint's position is added to, and the rest of the row [rad, m]."""
    shift = link.constant_shift
    return {'theta': link.constant_angle, 'd': shift, 'a': link.a, 'alpha': link.alpha}


def _format_numbers(*values: float) -> list[str]:
    """Return numbers without what is rounding."""
    return [f'{round(value, 9) + 0.0:.6g}' for value in values]


def _tabulate_ends(arm: Arm) -> ReportTable:
    rows = []
    for name, pose in (('base', arm.base), ('tool', arm.tool)):
        numbers = [*pose.translation.tolist(), *roll_pitch_yaw(pose.rotation).tolist()]
        rows.append((name, *_format_numbers(*numbers)))
    return ReportTable(
        'Frames before the first joint and after the last [m, rad]',
        ('frame', 'x', 'y', 'z', 'roll', 'pitch', 'yaw'),
        rows,
        "base: frame 0 in the base link's frame. tool: the tip frame in frame n. Turned about the "
        'fixed axes x, y, z in this order, as in a URDF.',
    )


def _frames_as_data(arms: Arms) -> dict[str, object]:
    arm = arms.own
    return {
        'convention': arm.convention,
        'fitted': arms.is_fitted,
        'base': arm.base.matrix.tolist(),
        'links': [
            {'joint': link.name, 'prismatic': link.is_prismatic, **_collect_row(link)}
            for link in arm.links
        ],
        'tool': arm.tool.matrix.tolist(),
    }


def _tabulate_strobing(disagreements: dict[str, float], steps: int) -> ReportTable:
    return ReportTable(
        'By strobing the recursion of Luh, Walker and Paul (001 sections 3 and 7)',
        ('quantity', 'disagreement'),
        [(name, f'{value:.0e}') for name, value in disagreements.items()],
        f'The simulation: Runge-Kutta, {steps} steps of '
        f'{1e3 * STEP:g} ms from the motion above, without friction, under the '
        'efforts that hold it against gravity. '
        'Relative to the largest number, or to that of one unit where all are smaller.',
    )


def _as_data(result: FormResult) -> dict[str, object]:
    if result.efforts is None:
        return {'refused': list(result.refusals)}
    return {
        'efforts': result.efforts.tolist(),
        'disagreement': result.disagreement,
        'as_written': [result.naive.multiplications, result.naive.additions],
        'skipping_zeros_and_ones': [result.skipping.multiplications, result.skipping.additions],
        'seconds': result.seconds,
    }
