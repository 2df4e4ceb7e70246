"""Plan the motion that tells most about a robot, from where it stands and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.arguments import check_vector
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import ExcitationError, InputError
from ne_dynamics.excitation.basis import Series
from ne_dynamics.excitation.clearance import Clearance
from ne_dynamics.excitation.columns import find_columns
from ne_dynamics.excitation.information import (
    MEASURES,
    Information,
    SampledMotion,
    compute_condition_number,
    measure_determinant,
)
from ne_dynamics.excitation.keep_out import FLOOR, KeepOut
from ne_dynamics.excitation.limits import ExcitationLimits
from ne_dynamics.excitation.linear_algebra import one_thread
from ne_dynamics.excitation.search import Search, Task
from ne_dynamics.excitation.solids import Solid, make_origins
from ne_dynamics.excitation.thresholds import EXCITATION, SEARCH
from ne_dynamics.excitation.verification import (
    DenseMotion,
    Distances,
    Nearest,
    check_limits,
    join_points,
    sample_densely,
)
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.motion import NANO, AnnotatedTrajectory


@dataclass(frozen=True)
class ExpectedParameter:
    """What a fit to a log of the motion is expected to find of a parameter.

    Attributes
    ----------
    name, unit : str
        Link or joint and parameter; what of other parameters acts alike is in it.
    value : float
        Of the given model.
    deviation : float
        Standard deviation, from the noise of the efforts.
    """

    name: str
    unit: str
    value: float
    deviation: float


@dataclass(frozen=True, eq=False)
class Excitation:
    """A planned excitation motion, checked in steps of a millisecond.

    Attributes
    ----------
    trajectory : AnnotatedTrajectory
        Its points, with the efforts of the given model.
    series : Series
    coefficients : array, shape (n, size)
        Coefficients of the series [rad or m].
    start : array, shape (n,)
        Pose at both ends [rad or m].
    objective : str
        Minimized measure, a key of :data:`~ne_dynamics.excitation.information.MEASURES`.
    condition_number : float
        Condition number of the regressor, each joint weighted by its noise and each column in
        units of its prior scale in the identification.
    log_determinant : float
        Of the mean information matrix of a sample in these units.
    parameters : tuple of ExpectedParameter
        Identifiable combinations of parameters.
    velocity_shares, effort_shares : array, shape (n,)
        Largest magnitudes, as parts of the joints' own limits; 0 for no limit.
    range_shares : array, shape (n,)
        Parts of the position ranges that the joints pass through.
    nearest : tuple of Nearest
        Smallest distances between parts, the one with the least clearance first.
    notes : tuple of str
        What was assumed or left out, one sentence each.
    """

    trajectory: AnnotatedTrajectory
    series: Series
    coefficients: FloatArray
    start: FloatArray
    objective: str
    condition_number: float
    log_determinant: float
    parameters: tuple[ExpectedParameter, ...]
    velocity_shares: FloatArray
    effort_shares: FloatArray
    range_shares: FloatArray
    nearest: tuple[Nearest, ...]
    notes: tuple[str, ...]

    @property
    def duration(self) -> float:
        """Duration of the motion [s]."""
        return self.series.duration


@one_thread()
def plan_excitation(
    dynamics: Dynamics,
    start: ArrayLike,
    *,
    limits: ExcitationLimits | None = None,
    solids: Sequence[Solid] = (),
    keep_out: Sequence[KeepOut] = (FLOOR,),
    margin: float = 0.02,
    ignored: Sequence[tuple[str, str]] = (),
    duration: float | None = None,
    base_frequency: float | None = None,
    harmonics: int = 10,
    points_per_second: float | None = None,
    objective: str = 'log-det',
    noise_share: float = 0.01,
    starts: int = 2,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Excitation:
    """Return the most informative motion for identification that keeps all limits.

    Parameters
    ----------
    dynamics : Dynamics
        Dynamics of the robot as known, with friction, for the effort limits.
    start : array-like, shape (n,)
        Present pose: the motion begins and ends there, at rest [rad or m].
    limits : ExcitationLimits, optional
        Default: :meth:`ExcitationLimits.of_robot` with its default shares.
    solids : sequence of Solid
        From :func:`load_solids`, for the check of self-collision. Without them only the origins
        of the links are checked against `keep_out`.
    keep_out : sequence of KeepOut
        Forbidden half-spaces; default: below the base frame.
    margin : float
        Least distance between links, and from planes [m].
    ignored : sequence of (str, str)
        Pairs of links that may touch.
    duration : float, optional
        Duration [s]; default: 20 to 60, from how long the slowest joint takes to cross its range.
    base_frequency : float, optional
        Lowest frequency of the series [Hz]; default: for a highest one of 0.5 Hz.
    harmonics : int
        Number of frequencies.
    points_per_second : float, optional
        Points of the trajectory; default: 80 in the shortest period.
    objective : str
        Minimise the volume of the uncertainty of all parameters ('log-det'), or the condition
        number ('condition').
    noise_share : float
        Noise of the efforts, as a part of each joint's effort limit.
    starts : int
        Number of random motions to optimise; the best one is taken.
    seed : int
        Seed: same arguments and seed give the same motion.
    progress : callable, optional
        Called with the completed part of the work, from 0 to 1.

    Raises
    ------
    InputError
        When an argument is invalid, or a limit is missing.
    ExcitationError
        When the start pose violates a limit, or no motion was found that keeps all limits.
    MissingDependencyError
        When SciPy, or with solids coal, is not installed.
    """
    pose = check_vector(start, 'start', dynamics.n)
    _check_options(margin, duration, base_frequency, harmonics, points_per_second, noise_share)
    _check_search(objective, starts, seed)
    _check_links([link.name for link in dynamics.robot.links], ignored)
    _check_start(dynamics, pose)
    limits = ExcitationLimits.of_robot(dynamics, pose) if limits is None else limits
    if not limits.moves.any():
        raise ExcitationError('limits: expected a joint with room to move, got none')
    _check_holding(dynamics, pose, limits)
    series = _choose_series(limits, duration, base_frequency, harmonics)
    count = _count_points(series, points_per_second)
    bodies = tuple(solids) or make_origins(dynamics.robot)
    clearance = Clearance(dynamics, bodies, keep_out, margin, pose, limits, ignored)
    columns = find_columns(dynamics, limits, pose)
    if not columns.size:
        raise ExcitationError('model: expected parameters that efforts depend on, got none')
    noise = noise_share * _find_efforts(dynamics, limits)
    information = Information(dynamics, columns, limits, noise)
    measure = MEASURES[objective]
    task = Task(dynamics, pose, series, limits, clearance, information, measure)
    coefficients, checked = _seek(task, count, starts, seed, progress)
    notes = [*limits.notes, *clearance.notes, *_note_shapes(dynamics.robot, solids, keep_out)]
    found = _describe(task, objective, coefficients, *checked, tuple(notes))
    _check_information(found, checked[1])
    return found


def _check_information(found: Excitation, motion: DenseMotion) -> None:
    if not np.isfinite(found.condition_number):
        raise ExcitationError(
            'duration and limits: expected room for a motion that tells all parameters apart, '
            f'got one of {found.duration:.4g} s in which no joint is faster than '
            f'{np.abs(motion.velocity).max():.3g} rad/s or m/s'
        )


def _check_search(objective: str, starts: int, seed: int) -> None:
    if objective not in MEASURES:
        raise InputError(f'objective: expected one of {", ".join(MEASURES)}, got {objective!r}')
    if starts < 1:
        raise InputError(f'starts: expected at least 1, got {starts}')
    if seed < 0:
        raise InputError(f'seed: expected at least 0, got {seed}')


def _check_links(names: Sequence[str], pairs: Sequence[Sequence[str]]) -> None:
    for name in (name for pair in pairs for name in pair):
        if name not in names:
            raise InputError(
                f'--ignore-pair: expected a link, one of {", ".join(names)}, got {name!r}'
            )


def _note_shapes(
    robot: Robot, solids: Sequence[Solid], keep_out: Sequence[KeepOut]
) -> Iterator[str]:
    """Yield what may touch because shapes are not known."""
    if not solids:
        yield (
            'the shapes of the links are not known: nothing keeps them from touching each other'
            + (', and of each link the origin alone is kept out of the planes' if keep_out else '')
        )
    shaped = {solid.body for solid in solids or make_origins(robot)}
    bare = [body.name for index, body in enumerate(robot.bodies) if index not in shaped]
    if bare:
        yield f'links without a shape, which may touch anything: {", ".join(bare)}'


def _check_options(
    margin: float,
    duration: float | None,
    base_frequency: float | None,
    harmonics: int,
    points_per_second: float | None,
    noise_share: float,
) -> None:
    positive = (
        ('duration [s]', duration),
        ('base frequency [Hz]', base_frequency),
        ('points per second', points_per_second),
        ('noise share', noise_share),
    )
    for name, value in positive:
        if value is not None and not (np.isfinite(value) and value > 0.0):
            raise InputError(f'{name}: expected a finite number above 0, got {value}')
    if not (np.isfinite(margin) and margin >= 0.0):
        raise InputError(f'margin [m]: expected a finite number not below 0, got {margin}')
    if not EXCITATION.least_noise <= noise_share <= 1.0:
        raise InputError(
            f'noise share: expected from {EXCITATION.least_noise:g} to 1, got {noise_share:g}'
        )
    if not 1 <= harmonics <= 50:
        raise InputError(f'harmonics: expected from 1 to 50, got {harmonics}')


def _check_start(dynamics: Dynamics, start: FloatArray) -> None:
    """Refuse a pose beyond a joint's position limits, by an ExcitationError."""
    for joint, value in zip(dynamics.robot.joints, start.tolist(), strict=True):
        if not joint.lower <= value <= joint.upper:
            raise ExcitationError(
                f'start: joint {joint.name!r}: expected between {joint.lower:.6g} and '
                f'{joint.upper:.6g}, got {value:.6g}'
            )


def _check_holding(dynamics: Dynamics, start: FloatArray, limits: ExcitationLimits) -> None:
    holding = np.abs(dynamics.gravity_torque(start))
    for index in np.flatnonzero((holding >= limits.effort) & limits.moves).tolist():
        raise ExcitationError(
            f'start: joint {dynamics.joint_names[index]!r}: expected that less than '
            f'{limits.effort[index]:.4g} (its share of the effort limit '
            f'{limits.full_effort[index]:.4g}) holds the arm against gravity, got '
            f'{holding[index]:.4g}'
        )


def _choose_series(
    limits: ExcitationLimits, duration: float | None, base_frequency: float | None, harmonics: int
) -> Series:
    moving = limits.moves
    if duration is None:
        span = np.minimum(limits.upper - limits.lower, 2.0 * np.pi)[moving]
        slowest = float((span / limits.velocity[moving]).max())
        shortest, longest = EXCITATION.shortest_duration, EXCITATION.longest_duration
        duration = float(np.clip(EXCITATION.sweeps * slowest, shortest, longest))
    if base_frequency is None:
        base_frequency = max(EXCITATION.highest_frequency / harmonics, 1.0 / duration)
    if base_frequency * duration < 1.0 - 1e-9:
        raise InputError(
            f'duration [s]: expected at least a period of the base frequency, '
            f'{1.0 / base_frequency:.4g}, got {duration:.4g}'
        )
    return Series(duration, base_frequency, harmonics)


def _count_points(series: Series, points_per_second: float | None) -> int:
    rate = points_per_second
    if rate is None:
        rate = EXCITATION.points_per_period * series.base_frequency * series.harmonics
    count = int(np.ceil(rate * series.duration)) + 1
    if count > EXCITATION.most_points:
        raise InputError(
            f'points: expected at most {EXCITATION.most_points}, got {count} of '
            f'{series.duration:.4g} s with {rate:.4g} a second'
        )
    return max(count, 10)


def _find_efforts(dynamics: Dynamics, limits: ExcitationLimits) -> FloatArray:
    """Return effort limits; where there is none, the largest effort of random motions."""
    rng = np.random.default_rng(0)
    q = rng.uniform(limits.lower, limits.upper, (50, dynamics.n))
    qd, qdd = (
        rng.uniform(-1.0, 1.0, q.shape) * np.where(limits.moves, size, 0.0)
        for size in (limits.velocity, limits.acceleration)
    )
    largest = np.abs(dynamics.inverse_dynamics(q, qd, qdd)).max(axis=0)
    has = np.isfinite(limits.full_effort) & (limits.full_effort > 0.0)
    return np.where(has, limits.full_effort, np.maximum(largest, 1e-6))


def _seek(
    task: Task,
    count: int,
    starts: int,
    seed: int,
    progress: Callable[[float], None] | None,
) -> tuple[FloatArray, tuple[AnnotatedTrajectory, DenseMotion, tuple[Nearest, ...]]]:
    """Return the best coefficients that pass the check, and what :func:`_verify` returned."""
    rng = np.random.default_rng(seed)
    total = SEARCH.random_motions / 4.0 + starts * 8.0 + 1.0
    done = 0.0

    def report(more: float) -> None:
        if progress is not None:
            progress(min((done + more) / total, 1.0))

    # The condition number has many poor minima: the way to it leads over the determinant.
    kept = EXCITATION.kept_shares[0], EXCITATION.kept_distances[0]
    first = Search(replace(task, measure=measure_determinant), *kept)
    search = Search(task, *kept)
    is_plain = task.measure is measure_determinant
    drawn = []
    for _ in range(SEARCH.random_motions):
        drawn.append(first.draw(rng))
        done += 0.25
        report(0.0)
    drawn.sort(key=first.measure)
    better = []
    for x in drawn[:starts]:
        x = first.improve(x, lambda part: report(8.0 * part))
        better.append(
            x if is_plain else search.improve(x, lambda part: None, SEARCH.multiplier_steps_again)
        )
        done += 8.0
    failure: ExcitationError | None = None
    for x in _vary(task, sorted(better, key=search.measure)):
        coefficients = search.make_coefficients(x)
        try:
            checked = _verify(task, _make_trajectory(task, coefficients, count))
        except ExcitationError as error:
            failure = error
            continue
        report(total)
        return coefficients, checked
    raise ExcitationError(f'no motion was found that keeps all limits: {failure}') from failure


def _vary(task: Task, found: Sequence[FloatArray]) -> Iterator[FloatArray]:
    """Yield motions that were found, then more careful ones, then smaller ones."""
    best = found[0]
    yield best
    for tightening, extra in zip(
        EXCITATION.kept_shares[1:], EXCITATION.kept_distances[1:], strict=True
    ):
        search = Search(task, tightening, extra)
        best = search.improve(best, lambda part: None, SEARCH.multiplier_steps_again)
        yield best
    yield from found[1:]
    for factor in EXCITATION.shrinking_factors:
        yield factor * best


def _make_trajectory(task: Task, coefficients: FloatArray, count: int) -> AnnotatedTrajectory:
    """Return a motion as so many points, with efforts that nothing says about the way between."""
    nanoseconds = np.rint(np.linspace(0.0, task.series.duration, count) * NANO).astype(np.int64)
    waves = task.series.evaluate(nanoseconds / NANO) @ coefficients.T
    waves[0] += task.start
    waves[:, [0, -1]] = 0.0
    waves[0, [0, -1]] = task.start
    motion = SampledMotion(*waves)
    return AnnotatedTrajectory(
        task.dynamics.joint_names,
        nanoseconds,
        *motion,
        np.full(count, 2, dtype=np.intp),
        task.dynamics.inverse_dynamics(*motion),
        np.zeros(task.start.size),
        0,
    )


def _verify(
    task: Task, trajectory: AnnotatedTrajectory
) -> tuple[AnnotatedTrajectory, DenseMotion, tuple[Nearest, ...]]:
    """Return a trajectory that passes the check, its motion, and what comes nearest."""
    dynamics = task.dynamics
    motion = join_points(dynamics.robot, dynamics.joint_names, trajectory.points)
    check_limits(dynamics, task.limits, motion)
    dense = sample_densely(dynamics, motion)
    nearest = Distances(dynamics, dense).check(task.clearance)
    times = trajectory.nanoseconds / NANO
    lines = [np.interp(dense.times, times, column) for column in trajectory.efforts.T]
    deviation = np.abs(np.stack(lines, axis=1) - dense.effort).max(axis=0)
    return replace(trajectory, deviation=deviation), dense, nearest


def _describe(
    task: Task,
    objective: str,
    coefficients: FloatArray,
    trajectory: AnnotatedTrajectory,
    dense: DenseMotion,
    nearest: tuple[Nearest, ...],
    notes: tuple[str, ...],
) -> Excitation:
    step = max(round(len(dense.times) / (task.series.duration * EXCITATION.log_rate)), 1)
    part = slice(None, None, step)
    samples = SampledMotion(dense.position[part], dense.velocity[part], dense.acceleration[part])
    information, columns = task.information.compute(samples), task.information.columns
    everything = information * task.series.duration * EXCITATION.log_rate
    deviations = columns.scales * np.sqrt(np.diag(np.linalg.pinv(everything, hermitian=True)))
    limits = task.limits
    ranges = limits.upper - limits.lower

    def share(values: FloatArray, limit: FloatArray) -> FloatArray:
        result: FloatArray = np.abs(values).max(axis=0) / np.where(limit > 0.0, limit, np.inf)
        return result

    return Excitation(
        trajectory,
        task.series,
        coefficients,
        task.start,
        objective,
        compute_condition_number(information),
        -measure_determinant(information).value,
        tuple(
            ExpectedParameter(name, unit, float(value), float(deviation))
            for name, unit, value, deviation in zip(
                columns.names, columns.units, columns.values, deviations, strict=True
            )
        ),
        share(dense.velocity, limits.full_velocity),
        share(dense.effort, limits.full_effort),
        np.ptp(dense.position, axis=0) / np.where(ranges > 0.0, ranges, np.inf),
        nearest,
        notes,
    )
