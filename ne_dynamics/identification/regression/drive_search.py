"""Find drives that turn with two joints of the wrist, where a log shows them.

The sum and the difference of two joints are tried first. Where one of them explains the log, other
ratios of these joints are tried around it, closer and closer, by the likelihood of their efforts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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
from ne_dynamics.identification.settings import IdentificationSettings
from ne_dynamics.model.coupled_drive import CoupledDrive
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot


def list_candidates(robot: Robot, used: NDArray[np.bool_], wrist: int) -> tuple[CoupledDrive, ...]:
    """Return the drives that neighbouring joints of the wrist may share, without numbers.

    Of joints whose efforts are used, shape (n,); so many last joints are of the wrist.
    """
    taken = [set(drive.joints) for drive in robot.coupled_drives]
    found = []
    for first, second in pairwise(range(max(robot.n - wrist, 0), robot.n)):
        pair = robot.joints[first], robot.joints[second]
        names = pair[0].name, pair[1].name
        turns = used[first] and used[second] and not any(j.type.is_prismatic for j in pair)
        if turns and set(names) not in taken:
            found += [_make_drive(names, 1.0), _make_drive(names, -1.0)]
    return tuple(found)


@dataclass(frozen=True, eq=False)
class DriveTrials:
    """Fits of the present design with one of several drives.

    A drive is felt by both of its joints.

    Attributes
    ----------
    candidates : sequence of CoupledDrive
    folds : Folds
        Of the present design.
    reduction : Reduction
        Of the fitted blocks, with columns of all candidates after those of the design.
    scales : array, shape (n + k + candidates, TERMS)
        As :class:`~.design.Design` has them.
    present : Prediction
    """

    candidates: Sequence[CoupledDrive]
    folds: Folds
    reduction: Reduction
    scales: FloatArray
    present: Prediction

    def choose_drive(self) -> CoupledDrive | None:
        """Return the drive that a log asks for most; None where it asks for none.

        It is taken where the log is likelier with it by `likelier` in the efforts of each of its
        joints, and `worth` of the squared held-out residual of each is gone with it, in most
        blocks alike.
        """
        best, least = None, 0.0
        for index, evidence in enumerate(self._evidence):
            if (evidence < self.folds.settings.likelier).any():
                continue
            before = self.present.squares[:, self._find_joints(index)]
            gain = min(map(self._compute_gain, before.T, self._predict(index).T))
            if gain > max(self.folds.settings.worth, least):
                best, least = self.candidates[index], gain
        return best

    def find_likeliest(self) -> int:
        """Return the candidate with which the efforts of its joints are likeliest."""
        return int(np.argmax(self._evidence.sum(axis=1)))

    def is_better(self, index: int, other: int) -> bool:
        """Return whether a candidate is clearly better than another one of the same joints.

        That is, likelier by `overwhelming`, and by `worth` of the squared held-out residual.
        """
        evidence = self._evidence.sum(axis=1)
        if evidence[index] - evidence[other] < self.folds.settings.overwhelming:
            return False
        weights = self.folds.weights[self._find_joints(index)]
        before, after = (self._predict(each) @ weights for each in (other, index))
        return self._compute_gain(before, after) > self.folds.settings.worth

    @cached_property
    def _evidence(self) -> FloatArray:
        """Return how much likelier both joints' efforts are by each candidate, shape (c, 2)."""
        present = self.present
        before, start = self.folds.fit_whole(present.design, present, present.solutions[0])
        found = []
        for index in range(len(self.candidates)):
            wider, folds = self._with_drive(index)
            after, _ = folds.fit_whole(wider, present, start)
            evidence = self.folds.compute_evidence(before, after)
            found.append(evidence[self._find_joints(index)])
        return np.array(found)

    def _predict(self, index: int) -> FloatArray:
        """Return the squared residuals of held-out blocks of both joints, shape (folds, 2)."""
        design, folds = self._with_drive(index)
        squares = try_design(folds, self.present, design).squares
        return squares[:, self._find_joints(index)]

    def _compute_gain(self, before: FloatArray, after: FloatArray) -> float:
        return compute_gain(self.folds, before, after, is_certain=False)

    def _find_joints(self, index: int) -> list[int]:
        names = self.present.design.robot.joint_names
        return [names.index(name) for name in self.candidates[index].joints]

    def _with_drive(self, index: int) -> tuple[Design, Folds]:
        """Return the design with the columns of one candidate, and the folds of its rows."""
        given = self.present.design
        drives = (*given.robot.coupled_drives, self.candidates[index])
        robot = replace(given.robot, coupled_drives=drives)
        own = self.scales[len(given.given) + index][np.newaxis]
        design = replace(
            given, robot=robot, given=believed(robot), scales=np.concatenate([given.scales, own])
        )
        reduction, folds = _select_columns(self.reduction, design, index), self.folds
        return design, Folds.of(reduction, folds.correlation_time, folds.weights, folds.settings)


def find_ratio(
    drive: CoupledDrive,
    try_drives: Callable[[Sequence[CoupledDrive]], DriveTrials],
    settings: IdentificationSettings,
) -> CoupledDrive:
    """Return a drive with the ratio that a log asks for; unchanged unless that is clearly better.

    The given one is of two joints, with the ratios 1 and 1 or -1.
    """
    likeliest = drive
    for step in settings.ratio_steps:
        number = settings.ratios_to_either_side
        ratios = likeliest.ratios[1] * step ** np.arange(-number, number + 1)
        others = [_make_drive(drive.joints, each) for each in ratios.tolist()]
        trials = try_drives([drive, *(each for each in others if each != drive)])
        best = trials.find_likeliest()
        likeliest = trials.candidates[best]
    return likeliest if trials.is_better(best, 0) else drive


def _make_drive(names: tuple[str, ...], ratio: float) -> CoupledDrive:
    """Return a drive without numbers that turns with a joint and this ratio of another one."""
    drive = CoupledDrive('drive', names, (1.0, ratio))
    return replace(drive, name=drive.formula)


def _select_columns(reduction: Reduction, design: Design, index: int) -> Reduction:
    """Return the reduction with the columns of one candidate after those of the given drives."""
    size, given = len(DRIVE_TERMS), len(design.robot.coupled_drives) - 1
    known = design.inertial + TERMS + size * given
    first = known + size * index
    kept = [*range(known), *range(first, first + size), reduction.factors.shape[-1] - 1]
    factors = np.array([[triangle(own[:, kept]) for own in block] for block in reduction.factors])
    return Reduction(factors, reduction.counts)
