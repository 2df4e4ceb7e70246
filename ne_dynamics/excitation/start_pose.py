"""A pose from which a motion may begin, where none is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import ExcitationError, InputError
from ne_dynamics.excitation.clearance import Clearance
from ne_dynamics.excitation.keep_out import KeepOut
from ne_dynamics.excitation.limits import ExcitationLimits, Shares
from ne_dynamics.excitation.solids import Solid, make_origins
from ne_dynamics.model.rigid_body import FloatArray


def choose_start(
    dynamics: Dynamics,
    solids: Sequence[Solid],
    keep_out: Sequence[KeepOut],
    margin: float,
    shares: Shares | None = None,
) -> tuple[FloatArray, str]:
    """Return a pose that keeps all distances, and what it is called.

    Zero is tried first, then the middle of the limits, then random poses, until nothing is nearer
    than the margin; else the pose counts in which the fewest are. Parameters are those of
    :func:`~ne_dynamics.excitation.plan.plan_excitation`; of the shares that of the efforts counts.

    Raises
    ------
    ExcitationError
        When there is none among them.
    """
    shares = Shares() if shares is None else shares
    bodies = tuple(solids) or make_origins(dynamics.robot)
    effort = shares.effort * dynamics.robot.limits('effort_limit')
    failure: ExcitationError | None = None
    best: tuple[int, FloatArray, str] | None = None
    for pose, name in _generate(dynamics):
        if not (
            np.abs(dynamics.gravity_torque(pose)) < np.where(effort > 0.0, effort, np.inf)
        ).all():
            failure = ExcitationError('the efforts do not hold the arm there')
            continue
        limits = _make_range(pose, dynamics)
        try:
            clearance = Clearance(dynamics, bodies, keep_out, margin, pose, limits)
        except ExcitationError as error:
            failure = error
            continue
        margins = [pair.margin for pair in clearance.pairs]
        margins += [wall.margin for wall in clearance.walls]
        near = sum(own < margin for own in margins) + len(clearance.watched)
        if best is None or near < best[0]:
            best = near, pose, name
        if near == 0:
            break
    if best is not None:
        return best[1], best[2]
    raise ExcitationError(
        f'start: expected a pose, got none, and 60 others were not free either ({failure})'
    )


def arrange_start(
    dynamics: Dynamics,
    given: Sequence[tuple[str, float]],
    solids: Sequence[Solid],
    keep_out: Sequence[KeepOut],
    margin: float,
    shares: Shares,
) -> tuple[FloatArray, list[str]]:
    """Return a pose of positions [rad or m], and a note where some of it was chosen.

    They are given in the order of the joints with '' for the names, or by name for some of the
    joints; the others are those of :func:`choose_start`, as the other parameters are.

    Raises
    ------
    InputError
        When positions and joints do not fit.
    ExcitationError
        When there is no pose for the others.
    """
    names = dynamics.joint_names
    listed = [value for name, value in given if not name]
    if listed:
        if len(listed) != len(given) or len(listed) != len(names):
            raise InputError(
                f'--start: expected {len(names)} positions, {", ".join(names)}, or NAME=VALUE '
                f'for some, got {len(given)} values'
            )
        return np.array(listed), []
    pose: dict[str, float] = {}
    for name, value in given:
        if name not in names or name in pose:
            unknown = f'for an unknown joint; the joints are {", ".join(names)}'
            what = 'twice' if name in pose else unknown
            raise InputError(f'--start: expected one value for a joint, got {name!r} {what}')
        pose[name] = value
    notes = []
    if len(pose) < len(names):
        chosen, called = choose_start(dynamics, solids, keep_out, margin, shares)
        pose = dict(zip(names, chosen.tolist(), strict=True)) | pose
        notes.append(f'the start is {called}, for want of --start')
    return np.array([pose[name] for name in names]), notes


def _generate(dynamics: Dynamics) -> Iterator[tuple[FloatArray, str]]:
    lower, upper = dynamics.robot.limits('lower'), dynamics.robot.limits('upper')
    if ((lower <= 0.0) & (upper >= 0.0)).all():
        yield np.zeros(dynamics.n), 'zero'
    lower = np.where(np.isfinite(lower), lower, np.minimum(0.0, upper) - np.pi)
    upper = np.where(np.isfinite(upper), upper, np.maximum(0.0, lower) + np.pi)
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    yield middle, 'the middle of the limits'
    rng = np.random.default_rng(0)
    for _ in range(60):
        yield middle + 0.5 * half * rng.uniform(-1.0, 1.0, dynamics.n), 'a free pose'


def _make_range(pose: FloatArray, dynamics: Dynamics) -> ExcitationLimits:
    """Return limits with nothing but positions."""
    lower, upper = dynamics.robot.limits('lower'), dynamics.robot.limits('upper')
    lower = np.where(np.isfinite(lower), lower, pose - np.pi)
    upper = np.where(np.isfinite(upper), upper, pose + np.pi)
    most = np.full(pose.size, np.inf)
    return ExcitationLimits(lower, upper, most, most, most, most, most, upper > lower)
