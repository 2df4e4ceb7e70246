"""What is wrong in a robot description, and what a tolerance is worth: shorter equations."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ne_dynamics.algorithms.mechanism import DEFAULT_TOLERANCE, build_mechanism
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import ModelError
from ne_dynamics.model.chains import Chain, describe_chains, list_chains, list_ends
from ne_dynamics.model.checks import SEVERITIES, check_robot, describe_findings
from ne_dynamics.model.model_source import ModelSource
from ne_dynamics.model.robot import FloatArray, ModelFinding, Robot
from ne_dynamics.tables import align_lines


def advise_tolerance(
    robot: Robot, tolerance: float | None = None, *, advised: float = 1e-7, fewest: int = 3
) -> tuple[ModelFinding, ...]:
    """Return the advice to take a tolerance, where many angles are nearly quarter turns.

    Parameters
    ----------
    robot : Robot
    tolerance : float, optional
        The one that is taken; with 0 the rounding of exact quarter turns is kept on purpose.
    advised : float
        Covers quarter turns that are written with eight digits.
    fewest : int
        Angles from which it is advised.
    """
    used = DEFAULT_TOLERANCE if tolerance is None else tolerance
    small = [
        min(abs(cosine), abs(sine))
        for body in build_mechanism(robot, 0.0, regroup=False).bodies
        for cosine, sine in (body.turn, body.twist, body.spin)
    ]
    count = sum(used < size <= advised for size in small)
    if used == 0.0 or count < fewest:
        return ()
    return (
        ModelFinding(
            'info',
            'angles-nearly-quarter-turns',
            'model',
            f'{count} angles between joint axes are within {advised:g} of quarter turns and not '
            f'exact, as 1.5707963 is not: tolerance={advised:g} makes the equations shorter; '
            f'`check --tolerance {advised:g}` says what it changes',
        ),
    )


@dataclass(frozen=True, eq=False)
class ModelCheck:
    """What is wrong or doubtful in a robot description, and what a tolerance is worth for it.

    Attributes
    ----------
    file : str
    robot : Robot or None
        None where it cannot be loaded, which is the only finding then.
    findings : tuple of ModelFinding
    chains : sequence of Chain
        Those to choose from, where there are several ends and no tip is given.
    tolerance : float, optional
    rounding_bound : array, shape (n,), optional
        What the tolerance changes at most at unit rates and accelerations, by joint.
    """

    file: str
    robot: Robot | None
    findings: tuple[ModelFinding, ...]
    chains: Sequence[Chain] = ()
    tolerance: float | None = None
    rounding_bound: FloatArray | None = None

    @classmethod
    def of(cls, source: ModelSource, tolerance: float | None = None) -> ModelCheck:
        """Check a model, and a tolerance as :class:`~ne_dynamics.dynamics.Dynamics` takes it."""
        try:
            robot = source.load()
            findings = *check_robot(robot), *advise_tolerance(robot, tolerance)
        except ModelError as error:
            finding = ModelFinding('error', 'model-not-loadable', 'model', str(error))
            return cls(source.file, None, (finding,))
        is_open = source.tip_link is None and len(list_ends(robot)) > 1
        bound = None
        if robot.n and tolerance is not None:
            with np.errstate(over='ignore', invalid='ignore'):
                dynamics = Dynamics(robot, backend='python', tolerance=tolerance)
                bound = np.nan_to_num(dynamics.rounding_bound())
        return cls(
            source.file, robot, findings, list_chains(robot) if is_open else (), tolerance, bound
        )

    @property
    def counts(self) -> dict[str, int]:
        """Number of findings by severity."""
        return {key: sum(each.severity == key for each in self.findings) for key in SEVERITIES}

    @property
    def moving_mass(self) -> float | None:
        """Mass of all bodies [kg]; of masses that are too large for it, the largest number."""
        if self.robot is None:
            return None
        return min(sum(body.inertia.mass for body in self.robot.bodies), sys.float_info.max)

    def as_json(self) -> dict[str, Any]:
        """Return the check as data for JSON; what is unknown without a robot is None."""
        robot, bound = self.robot, self.rounding_bound
        document = {
            'model': self.file,
            **{key: getattr(robot, key, None) for key in ('name', 'base_link', 'tip_link')},
            'joints': getattr(robot, 'joint_names', None),
            'moving_mass': self.moving_mass,
            **{key: getattr(self, key) for key in ('counts', 'findings', 'chains')},
        }
        if robot is not None and bound is not None:
            by_joint = dict(zip(robot.joint_names, bound, strict=True))
            document |= {'tolerance': self.tolerance, 'rounding_bound': by_joint}
        return document

    def lines(self) -> list[str]:
        """Return the check for people."""
        lines, robot, bounds = [self.file], self.robot, list[str]()
        if robot is not None:
            lines.append(
                f'  {robot.name}: {robot.n} joints, {len(robot.links)} links, base '
                f'{robot.base_link}, tip {robot.tip_link or "(none)"}, {self.moving_mass:.4g} kg '
                'moving'
            )
        if robot is not None and self.rounding_bound is not None:
            pairs = zip(robot.joints, self.rounding_bound, strict=True)
            rows = [[joint.name, f'{most:.2g} {joint.type.effort_unit}'] for joint, most in pairs]
            bounds = [
                '',
                f'  tolerance {self.tolerance:g} changes an effort at 1 rad/s and 1 rad/s^2 (m/s, '
                'm/s^2) by at most',
                *(f'    {line}' for line in align_lines([], rows, is_text=True)),
            ]
        lines += describe_findings(self.findings, self.counts)
        return [*lines, *describe_chains(self.chains), *bounds]
