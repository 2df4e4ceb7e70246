"""Find drives that turn with two joints of the wrist, where a log shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.identification.regression.design import Design, believed
from ne_dynamics.identification.regression.drive_terms import DRIVE_TERMS
from ne_dynamics.identification.regression.friction_terms import TERMS
from ne_dynamics.identification.regression.reduction import Reduction, triangle
from ne_dynamics.identification.regression.selection import (
    Folds,
    Prediction,
    compute_gain,
    try_design,
)
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import CoupledDrive, Robot


def list_candidates(robot: Robot, used: NDArray[np.bool_], wrist: int) -> tuple[CoupledDrive, ...]:
    """Return the drives that neighbouring joints of the wrist may share, without numbers.

    Parameters
    ----------
    robot : Robot
    used : bool array, shape (n,)
        Joints whose efforts are used.
    wrist : int
        Number of last joints that are of it.
    """
    taken = [set(drive.joints) for drive in robot.coupled_drives]
    found = []
    for first, second in pairwise(range(max(robot.n - wrist, 0), robot.n)):
        pair = robot.joints[first], robot.joints[second]
        names = pair[0].name, pair[1].name
        turns = used[first] and used[second] and not any(j.type.is_prismatic for j in pair)
        if turns and set(names) not in taken:
            for ratio, sign in ((1.0, '+'), (-1.0, '-')):
                found.append(CoupledDrive(f'{names[0]} {sign} {names[1]}', names, (1.0, ratio)))
    return tuple(found)


def choose_drive(
    candidates: Sequence[CoupledDrive],
    folds: Folds,
    reduction: Reduction,
    scales: FloatArray,
    weights: FloatArray,
    present: Prediction,
) -> CoupledDrive | None:
    """Return the drive that a log asks for most; None where it asks for none.

    A drive is felt by both of its joints. It is taken where the log is likelier with it by
    `likelier` in the efforts of each, and `worth` of the squared held-out residual of each is gone
    with it, in most blocks alike.

    Parameters
    ----------
    candidates : sequence of CoupledDrive
    folds : Folds
        Of the present design.
    reduction : Reduction
        Of the fitted blocks, with columns of all candidates after those of the design.
    scales : array, shape (n + k + candidates, TERMS)
        As :class:`~.design.Design` has them.
    weights : array, shape (n,)
    present : Prediction
    """
    best, least = None, 0.0
    before, start = folds.fit_whole(present.design, weights, present.spread, present.solutions[0])
    for index, drive in enumerate(candidates):
        design = _with_drive(present.design, drive, scales, index)
        own = _select_columns(reduction, design, index)
        with_drive = Folds.of(own, folds.likeness, folds.settings)
        joints = [design.robot.joint_names.index(name) for name in drive.joints]
        adopted = design.adopt(start, present.design)
        after, _ = with_drive.fit_whole(design, weights, present.spread, adopted)
        evidence = folds.compute_evidence(before, after)[joints]
        if (evidence < folds.settings.likelier).any():
            continue
        tried = try_design(with_drive, weights, present, design)
        gain = min(
            compute_gain(
                folds, present.squares[:, joint], tried.squares[:, joint], is_certain=False
            )
            for joint in joints
        )
        if gain > max(folds.settings.worth, least):
            best, least = drive, gain
    return best


def _with_drive(design: Design, drive: CoupledDrive, scales: FloatArray, index: int) -> Design:
    """Return a design with the columns of one candidate, given by its index."""
    robot = replace(design.robot, coupled_drives=(*design.robot.coupled_drives, drive))
    count = len(design.given)
    return replace(
        design,
        robot=robot,
        given=believed(robot),
        scales=np.concatenate([design.scales, scales[count + index][np.newaxis]]),
    )


def _select_columns(reduction: Reduction, design: Design, index: int) -> Reduction:
    """Return the reduction with the columns of one candidate after those of the given drives."""
    size, given = len(DRIVE_TERMS), len(design.robot.coupled_drives) - 1
    known = design.inertial + TERMS + size * given
    first = known + size * index
    kept = [*range(known), *range(first, first + size), reduction.factors.shape[-1] - 1]
    factors = np.array([[triangle(own[:, kept]) for own in block] for block in reduction.factors])
    return Reduction(factors, reduction.counts)
