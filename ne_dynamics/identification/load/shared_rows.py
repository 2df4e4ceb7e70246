"""Rows of one or two logs of the same arm, of which the second may carry a load.

Unknown are, as steps from what is believed and in units of how far that may be off: the inertial
parameters of the arm's bodies, and terms of the friction and the rotor inertia of each joint,
which all logs share; what friction and offset of each joint have changed by from one log to the
other, a little; and the ten parameters of the load. Efforts are linear in all of them ::

    effort = arm (body parameters) + friction + [loaded] load (load parameters) + error

The load hangs on the last body, so that one log cannot tell it from an error of that body but by
what is believed of it. Two logs can: what is wrong with the arm is in both. The motions need not
be the same; where they are, what the equations do not know of cancels too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.control import Carrier
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.identification.evaluation import require_joints, rms
from ne_dynamics.identification.pieces.piece_steps import reduce_piece
from ne_dynamics.identification.regression.design import find_bodies
from ne_dynamics.identification.regression.drive_terms import DRIVE_TERMS, given_drive_values
from ne_dynamics.identification.regression.friction_terms import TERMS, Term, given_values
from ne_dynamics.identification.regression.pseudo_inertia import BASIS, compute_width
from ne_dynamics.identification.regression.reduction import Reduction
from ne_dynamics.identification.regression.regression_rows import PER_BODY, PieceRows, Place
from ne_dynamics.identification.thresholds import IDENTIFICATION
from ne_dynamics.logs import Log, Signals, filtered
from ne_dynamics.model.rigid_body import FloatArray, Transform
from ne_dynamics.model.robot import Robot

SHARED_TERMS = (
    Term.VISCOUS,
    Term.COULOMB,
    Term.ROTOR,
    Term.OFFSET,
    Term.SQUARE_ROOT,
    Term.CUBIC,
)
"""Of each joint, in all logs alike."""

CHANGING_TERMS = (Term.VISCOUS, Term.COULOMB, Term.OFFSET)
"""What another temperature, or another day, makes of them."""


class LoadBelief(NamedTuple):
    """What is believed of the ten parameters of a load, in the frame of its link.

    Attributes
    ----------
    mean, width : array, shape (10,)
        Mass [kg], first moment [kg m], inertia about the origin [kg m^2].
    """

    mean: FloatArray
    width: FloatArray


@dataclass(frozen=True, eq=False)
class LogFactors:
    """What the fit needs of a log.

    Attributes
    ----------
    log : Log
        Its source names it.
    signals : Signals
    is_loaded : bool
    used : bool array, shape (M, n)
        Samples that count.
    rows : PieceRows
    reduction : Reduction
        Of one block.
    """

    log: Log
    signals: Signals
    is_loaded: bool
    used: NDArray[np.bool_]
    rows: PieceRows
    reduction: Reduction


def list_bodies(robot: Robot) -> tuple[tuple[int, ...], tuple[int, ...], FloatArray]:
    """Return the bodies that have columns, those that are fitted, and what is believed of these.

    An InputError where the tip does not move.
    """
    tip = robot.tip.body
    if tip < 0:
        raise InputError(
            f'robot {robot.name!r}: expected a tip link that moves, got {robot.tip.name!r}'
        )
    fitted, references, _ = find_bodies(robot)
    return tuple(sorted({*fitted, tip})), fitted, references


def read_logs(
    dynamics: Dynamics, loaded: Log, without: Log | None, cutoff_frequency: float | None
) -> list[LogFactors]:
    """Return what a fit needs of the log with the load and, where there is one, of the other.

    An InputError where a log has other joints, cannot be filtered, or no joint moves in it.
    """
    robot = dynamics.robot
    result: list[LogFactors] = []
    for log in (loaded,) if without is None else (loaded, without):
        require_joints(robot, log)
        signals = filtered(log, robot.limits('effort_limit'), cutoff_frequency)
        used = signals.usable & signals.effort.any(axis=0)
        if not used.any():
            raise InputError(
                f'log {log.source}: expected joints that move, with efforts below their limits '
                'that are not all 0, got none'
            )
        bodies, _, _ = list_bodies(robot)
        largest = np.abs(signals.velocity).max(axis=0)
        place = Place(0, signals.times.size, 1)
        rows = PieceRows.compute(place, dynamics, signals, list(bodies), largest)
        rows = replace(rows, used=used)
        _, reduction, _ = reduce_piece(rows, rows, None, None, None, largest)
        result.append(LogFactors(log, signals, not result, used, rows, reduction))
    return result


def choose_prior_scale(spread: float | None, without: Log | None) -> float:
    """Return how far the arm's inertias may be off: as given, or more where two logs tell them.

    An InputError where what is given is no finite number > 0.
    """
    if spread is None:
        return 0.2 if without is None else 1.0
    if not (math.isfinite(spread) and spread > 0.0):
        raise InputError(f'spread: expected a finite number > 0, got {spread}')
    return spread


def map_unknowns(
    carrier: Carrier,
    logs: Sequence[LogFactors],
    load: LoadBelief,
    prior_scale: float,
    shift: float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Return what is believed of the columns of each joint's rows, and what unknowns do to them.

    The given inertias of the arm may be off by the prior scale, as a part of themselves, and the
    centres of mass of its bodies, beside that, by the shift in each direction [m].

    Returns
    -------
    means : array, shape (2, n, C)
        Without and with the load.
    maps : array, shape (2, n, C, N)
        Alike, from the N unknowns, in units of their prior scale; the ten of the load
        are the last.
    """
    robot = carrier.dynamics.robot
    bodies, fitted, references = list_bodies(robot)
    n, first = robot.n, PER_BODY * len(bodies)
    inertial, shared, changing = PER_BODY * len(fitted), len(SHARED_TERMS), len(CHANGING_TERMS)
    first_load = inertial + n * (shared + changing)
    # Drives that turn with several joints are not fitted: their columns have the given numbers.
    drives = given_drive_values(robot)[:, DRIVE_TERMS].ravel()
    maps = np.zeros((2, n, first + TERMS + drives.size, first_load + PER_BODY))
    means = np.zeros((2, n, first + TERMS + drives.size))
    means[:, :, first + TERMS :] = drives
    for place, (body, reference) in enumerate(zip(fitted, references, strict=True)):
        column = PER_BODY * bodies.index(body)
        rows = slice(column, column + PER_BODY)
        steps = slice(PER_BODY * place, PER_BODY * (place + 1))
        maps[:, :, rows, steps] = _inertial_width(reference, prior_scale, shift)
    for place, body in enumerate(bodies):
        rows = slice(PER_BODY * place, PER_BODY * (place + 1))
        means[:, :, rows] = robot.bodies[body].inertia.parameters
    sizes = _column_sizes(logs, first)
    for joint in range(n):
        means[:, joint, first : first + TERMS] = [
            value if term in SHARED_TERMS else 0.0
            for term, value in zip(Term, given_values(robot.joints[joint]), strict=True)
        ]
        own = inertial + joint * (shared + changing)
        for offset, term in enumerate(SHARED_TERMS):
            maps[:, joint, first + term, own + offset] = (
                IDENTIFICATION.friction_prior_scale * sizes[joint, term]
            )
        for offset, term in enumerate(CHANGING_TERMS, start=shared):
            # Of a single log they are one with what is shared.
            maps[1, joint, first + term, own + offset] = (
                0.03 * sizes[joint, term] if len(logs) > 1 else 0.0
            )
    load_to_body = transform_parameters(robot.tip.pose_in_body @ carrier.link_to_tip)
    tip = PER_BODY * bodies.index(robot.tip.body)
    means[1, :, tip : tip + PER_BODY] += load_to_body @ load.mean
    maps[1, :, tip : tip + PER_BODY, first_load:] = load_to_body * load.width
    return means, maps


def _inertial_width(reference: FloatArray, prior_scale: float, shift: float) -> FloatArray:
    """Return a root of the covariance of a body's parameters, shape (10, 10)."""
    width: FloatArray = prior_scale * compute_width(reference)
    if shift > 0.0:
        moved = shift * _slope_in_center(reference)
        width = np.asarray(np.linalg.cholesky(width @ width.T + moved @ moved.T))
    return width


def transform_parameters(pose: Transform) -> FloatArray:
    """Return the map of ten inertial parameters into the frame in which a frame has a pose."""
    place = np.eye(4)
    place[:3, :3], place[:3, 3] = pose.rotation, pose.translation
    moved = place @ BASIS @ place.T
    basis, images = (part.reshape(PER_BODY, 16).T for part in (BASIS, moved))
    return np.asarray(np.linalg.lstsq(basis, images, rcond=None)[0], dtype=np.float64)


def _slope_in_center(pseudo: FloatArray) -> FloatArray:
    """Return the derivative of ten parameters in the place of a body, shape (10, 3)."""
    motions = np.zeros((3, 4, 4))
    motions[range(3), range(3), 3] = 1.0
    changes = (motions @ pseudo + pseudo @ motions.transpose(0, 2, 1)).reshape(3, 16).T
    return np.asarray(np.linalg.lstsq(BASIS.reshape(PER_BODY, 16).T, changes)[0], np.float64)


def _column_sizes(logs: Sequence[LogFactors], first: int) -> FloatArray:
    """Return the numbers with which terms are as large as the efforts, shape (n, TERMS)."""
    effort = np.max([rms(item.signals.effort) for item in logs], axis=0)
    squares = sum((item.reduction.factors[0, :, :, first:-1] ** 2).sum(axis=1) for item in logs)
    counts = sum(item.reduction.counts[0] for item in logs)
    size = np.sqrt(squares / np.maximum(counts, 1.0)[:, np.newaxis])
    result: FloatArray = np.maximum(effort, 1e-9)[:, np.newaxis] / np.where(size > 0.0, size, 1.0)
    return result
