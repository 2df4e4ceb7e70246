"""Which numbers of a robot are fitted, what is believed of them, and where their columns are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ne_dynamics.identification.regression.drive_terms import (
    DRIVE_TERMS,
    find_width,
    given_drive_values,
    with_drive_values,
)
from ne_dynamics.identification.regression.friction_terms import (
    NOT_NEGATIVE,
    SMOOTH,
    STRIBECK,
    TERMS,
    Term,
    given_values,
    with_values,
)
from ne_dynamics.identification.regression.lumped_inertia import with_body_inertias
from ne_dynamics.identification.regression.pseudo_inertia import (
    inertia_of,
    nearest_body,
    pseudo_inertia,
)
from ne_dynamics.identification.regression.reduction import Reduction, triangle
from ne_dynamics.identification.regression.regression_rows import PER_BODY
from ne_dynamics.identification.regression.solver import Problem, Solution
from ne_dynamics.identification.thresholds import IDENTIFICATION
from ne_dynamics.logs import Finding
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot


@dataclass(frozen=True, eq=False)
class Design:
    """What is fitted.

    Attributes
    ----------
    robot : Robot
        As given.
    bodies : tuple of int
        That are fitted.
    references : array, shape (b, 4, 4)
        Pseudo-inertias that they are believed to have.
    terms : tuple of n tuples of Term
        Of each joint, in their order.
    scales : array, shape (n + k, TERMS)
        How large each number of the joints, and of k coupled drives, may be before the prior is
        felt.
    given : array, shape (n + k, TERMS)
        Numbers that are believed.
    largest_velocities : array, shape (n,)
        [rad/s or m/s]
    doubts : array, shape (b,)
        How far each body may be from its reference, by how far bodies may be.
    """

    robot: Robot
    bodies: tuple[int, ...]
    references: FloatArray
    terms: tuple[tuple[Term, ...], ...]
    scales: FloatArray
    given: FloatArray
    largest_velocities: FloatArray
    doubts: FloatArray

    @property
    def inertial(self) -> int:
        """Number of columns of the bodies."""
        return PER_BODY * len(self.bodies)

    @cached_property
    def places(self) -> dict[tuple[int, Term], int]:
        """Column of each term of each joint, then of each coupled drive, counted on from these."""
        pairs = [(joint, term) for joint, terms in enumerate(self.terms) for term in terms]
        drives = range(len(self.terms), len(self.given))
        pairs += [(drive, term) for drive in drives for term in DRIVE_TERMS]
        return {pair: self.inertial + index for index, pair in enumerate(pairs)}

    def count_parameters(self) -> FloatArray:
        """Return how many parameters each joint's efforts tell, inertias shared; shape (n,)."""
        own = np.array([len(terms) for terms in self.terms])
        shared = self.inertial + len(DRIVE_TERMS) * len(self.robot.coupled_drives)
        result: FloatArray = own + shared / self.robot.n / 2.0
        return result

    def with_terms(self, terms: Mapping[int, tuple[Term, ...]]) -> Design:
        """Return the design with other terms of some joints."""
        return replace(
            self,
            terms=tuple(
                tuple(sorted(terms.get(joint, own))) for joint, own in enumerate(self.terms)
            ),
        )

    def joint_factors(self, reduction: Reduction) -> FloatArray:
        """Return the factor of each joint in the columns of the design, shape (n, C + 1, m + 1).

        The reduction is one of a single block.
        """
        factors = reduction.factors[0]
        return np.array(
            [self.joint_rows(joint, factor) for joint, factor in enumerate(factors)]
        ).reshape(len(self.terms), factors.shape[1], self.inertial + len(self.places) + 1)

    def joint_rows(self, joint: int, rows: FloatArray) -> FloatArray:
        """Return rows of a joint in the columns of the design, shape (K, m + 1).

        The given ones, shape (K, C + 1), have columns of the bodies, of all terms of the joint and
        of the drives, and the effort.
        """
        places, inertial, terms = self.places, self.inertial, self.terms[joint]
        result = np.zeros((rows.shape[0], inertial + len(places) + 1))
        result[:, :inertial] = rows[:, :inertial]
        drives = rows[:, inertial + TERMS : -1]
        result[:, result.shape[1] - 1 - drives.shape[1] : -1] = drives
        result[:, -1] = rows[:, -1]
        own = rows[:, inertial : inertial + TERMS]
        is_smooth = any(other in terms for other in SMOOTH)
        for term in Term:
            if term in terms:
                result[:, places[joint, term]] = own[:, term]
            elif term not in SMOOTH and not (term == Term.COULOMB and is_smooth):
                result[:, -1] -= own[:, term] * self.given[joint, term]
        for term in STRIBECK:
            if term in terms:
                # level = coulomb + (static - coulomb) g: of one unit of each.
                result[:, places[joint, Term.COULOMB]] -= own[:, term]
        return result

    def problem(self, factors: FloatArray, weights: FloatArray, prior_scale: float) -> Problem:
        """Return what is to be minimised, by the factors of :meth:`joint_factors`.

        Weights, shape (n,), are those of each joint's squared efforts [1/(N m)^2 or 1/N^2]; the
        prior scale is how far the given inertias may be off, as a part of themselves, where no
        body is doubted more than others.
        """
        weighted = factors * np.sqrt(weights)[:, np.newaxis, np.newaxis]
        pairs = list(self.places)
        return Problem(
            triangle(weighted.reshape(-1, factors.shape[2])),
            self.references,
            prior_scale * self.doubts,
            np.array([self.given[pair] for pair in pairs]),
            np.array([self.scales[pair] for pair in pairs]),
            np.array([term in NOT_NEGATIVE for _, term in pairs], dtype=bool),
        )

    def adopt(self, solution: Solution, other: Design) -> Solution:
        """Return the solution of another design in the columns of this one, to start from."""
        found = [solution.parameters[: self.inertial]]
        places = other.places
        for pair in self.places:
            known = pair in places
            found.append(
                np.atleast_1d(solution.parameters[places[pair]] if known else self.given[pair])
            )
        return replace(solution, parameters=np.concatenate(found))

    def term_values(self, solution: Solution, joint: int) -> dict[Term, float]:
        """Return the fitted numbers of a joint."""
        places = self.places
        return {
            term: float(solution.parameters[places[joint, term]]) for term in self.terms[joint]
        }

    def drive_values(self, solution: Solution) -> list[dict[Term, float]]:
        """Return the fitted numbers of the coupled drives."""
        places = self.places
        return [
            {term: float(solution.parameters[places[drive, term]]) for term in DRIVE_TERMS}
            for drive in range(self.robot.n, len(self.given))
        ]

    def find_inverted(self, solution: Solution) -> list[int]:
        """Return the joints whose fitted friction is less at rest than in motion: no Stribeck."""
        found = []
        for joint in range(self.robot.n):
            values = self.term_values(solution, joint)
            static = [values[term] for term in STRIBECK if term in values]
            if static and static[0] < values[Term.COULOMB]:
                found.append(joint)
        return found

    def without_stribeck(self, joints: Sequence[int]) -> Design:
        """Return the design without a Stribeck effect in some joints."""
        return self.with_terms(
            {
                joint: tuple(term for term in self.terms[joint] if term not in STRIBECK)
                for joint in joints
            }
        )

    def apply(self, solution: Solution, *, offsets: bool) -> Robot:
        """Return the robot with the fitted numbers; constant parts of the efforts if `offsets`."""
        inertias = {}
        for body, pseudo, reference in zip(
            self.bodies, solution.pseudo_inertias, self.references, strict=True
        ):
            root = np.linalg.inv(np.linalg.cholesky(reference))
            if np.abs(root @ (pseudo - reference) @ root.T).max() >= 1e-4:
                inertias[body] = inertia_of(pseudo)
        identified = with_body_inertias(self.robot, inertias)
        joints = []
        for index, joint in enumerate(self.robot.joints):
            values = self.term_values(solution, index)
            if not offsets:
                values.pop(Term.OFFSET, None)
            joints.append(with_values(joint, values, float(self.largest_velocities[index])))
        drives = [
            with_drive_values(drive, values, find_width(drive, row, self.largest_velocities))
            for drive, row, values in zip(
                self.robot.coupled_drives,
                self.robot.coupling_matrix,
                self.drive_values(solution),
                strict=True,
            )
        ]
        return replace(identified, joints=tuple(joints), coupled_drives=tuple(drives))


def find_bodies(robot: Robot) -> tuple[tuple[int, ...], FloatArray, list[Finding]]:
    """Return the bodies that have a mass, what they are believed to be, and what is doubtful."""
    chosen, references, findings = [], [], []
    for index, body in enumerate(robot.bodies):
        if not body.inertia.mass > 0.0:
            findings.append(
                Finding(
                    'body-without-mass',
                    (),
                    f'expected a mass > 0 to start from, got {body.inertia.mass:g} kg: '
                    'left as it is',
                    remedy='give the link a mass to start from, a rough one',
                    severity='warning',
                    link=body.name,
                )
            )
            continue
        near = nearest_body(body.inertia)
        if near is not body.inertia:
            findings.append(
                Finding(
                    'given-inertia-impossible',
                    (),
                    'the given inertia is not that of a body with volume: the nearest one '
                    'that is was taken to start from',
                    remedy="mend the link's <inertial>: `ne_dynamics check` says what is wrong "
                    'with it',
                    severity='warning',
                    link=body.name,
                )
            )
        chosen.append(index)
        references.append(pseudo_inertia(near.parameters))
    return tuple(chosen), np.array(references).reshape(-1, 4, 4), findings


def compute_scales(reduction: Reduction, effort: FloatArray, bodies: int) -> FloatArray:
    """Return how large the number of each term may be, shape (n + k, TERMS).

    By a reduction of a single block, the root mean square of each joint's effort, shape (n,)
    [N m or N], and the number of bodies that are fitted.
    """
    first = PER_BODY * bodies
    squares = (reduction.factors[0, :, :, first : first + TERMS] ** 2).sum(axis=1)
    size = np.sqrt(squares / np.maximum(reduction.counts[0], 1.0)[:, np.newaxis])
    efforts = np.maximum(effort, 1e-9)[:, np.newaxis]
    own = IDENTIFICATION.friction_prior_scale * efforts / np.where(size > 0.0, size, 1.0)
    return np.concatenate([own, _compute_drive_scales(reduction, efforts, first + TERMS)])


def _compute_drive_scales(reduction: Reduction, efforts: FloatArray, first: int) -> FloatArray:
    """Return how large the numbers of the k drives may be, shape (k, TERMS).

    As large as the joint allows that feels the drive most.
    """
    squares = (reduction.factors[0, :, :, first:-1] ** 2).sum(axis=1)
    size = np.sqrt(squares / np.maximum(reduction.counts[0], 1.0)[:, np.newaxis])
    largest = (size / efforts).max(axis=0).reshape(-1, len(DRIVE_TERMS))
    scales = np.ones((len(largest), TERMS))
    scales[:, DRIVE_TERMS] = IDENTIFICATION.friction_prior_scale / np.where(
        largest > 0.0, largest, 1.0
    )
    return scales


def believed(robot: Robot) -> FloatArray:
    """Return what joints, then coupled drives, are given with, shape (n + k, TERMS)."""
    own = np.array([given_values(joint) for joint in robot.joints]).reshape(-1, TERMS)
    return np.concatenate([own, given_drive_values(robot)])
