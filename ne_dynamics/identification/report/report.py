"""What an identification came to, in figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ne_dynamics.identification.evaluation import JointResidual
from ne_dynamics.identification.fit_evidence import FitEvidence
from ne_dynamics.identification.quality import BaseParameter
from ne_dynamics.json_numbers import finite_or_none
from ne_dynamics.logs import Finding
from ne_dynamics.model.coupled_drive import CoupledDrive
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.model.robot import Robot


def _describe_change(before: float, after: float, deviation: float) -> dict[str, float | None]:
    return {'before': before, 'after': after, 'deviation': finite_or_none(deviation)}


@dataclass(frozen=True, eq=False)
class BodyChange:
    """What became of one moving body, with all links that are fixed to it.

    Attributes
    ----------
    name : str
        Link that the joint moves.
    before, after : Inertia
        In the body's frame.
    determined : float
        How much of its ten parameters the log determined, 0 to 1, beside a belief in half of
        the given ones.
    mass_deviation : float
        Standard deviation of the mass after, what was believed before included [kg].
    """

    name: str
    before: Inertia
    after: Inertia
    determined: float
    mass_deviation: float

    @property
    def is_determined(self) -> bool:
        """Whether more of the body comes from the log than from the given model."""
        return self.determined >= 0.5

    def as_json(self) -> dict[str, Any]:
        """Return the figures; what is no number is None."""
        return {
            'link': self.name,
            'determined': self.determined,
            'is_determined': self.is_determined,
            'mass_deviation': finite_or_none(self.mass_deviation),
            **{
                key: {
                    'mass': inertia.mass,
                    'center_of_mass': inertia.center_of_mass.tolist(),
                    'inertia_about_com': inertia.inertia_about_com.tolist(),
                }
                for key, inertia in (('before', self.before), ('after', self.after))
            },
        }


@dataclass(frozen=True)
class JointChange:
    """What became of one joint's friction, and how well its effort is explained.

    Attributes
    ----------
    before, after : JointResidual
        On the part of the log that was held out: of the given model, and of one that was fitted
        to the rest alone. On all of the log when nothing was held out.
    cross_validated : float
        Root mean square of what is left of the fitted samples when each block is predicted from
        the others [N m or N]; NaN without blocks.
    samples : int
        That were fitted, out of those of this joint.
    numbers : mapping of str to tuple of float
        The numbers that were fitted or set, before and after, and the standard deviation of the
        latter (NaN for what was set): by name of the attribute of
        :class:`~ne_dynamics.model.robot.Joint` or of its friction.
    offset : float
        Constant part of the measured effort [N m or N]: of the robot's friction, or, when offsets
        were asked for, no part of the robot.
    noise : float
        Standard deviation of the residual of a sample [N m or N].
    correlation : float
        Samples that tell as much as one, because the errors of neighbours are alike.
    """

    before: JointResidual
    after: JointResidual
    samples: int
    numbers: Mapping[str, tuple[float, float, float]]
    offset: float
    cross_validated: float
    noise: float
    correlation: float

    @property
    def viscous(self) -> tuple[float, float, float]:
        """Viscous friction, as in `numbers` [N m s/rad or N s/m]."""
        return self.numbers['viscous_friction']

    @property
    def coulomb(self) -> tuple[float, float, float]:
        """Coulomb friction, as in `numbers` [N m or N]."""
        return self.numbers['coulomb_friction']

    @property
    def drive(self) -> dict[str, tuple[float, float, float]]:
        """The other numbers."""
        own = ('viscous_friction', 'coulomb_friction')
        return {key: values for key, values in self.numbers.items() if key not in own}

    def as_json(self) -> dict[str, Any]:
        """Return the figures; what is no number is None."""
        return {
            'joint': self.before.name,
            'unit': self.before.unit,
            'rms_measured': self.before.rms_measured,
            'rms_difference_before': self.before.rms_difference,
            'rms_difference_after': self.after.rms_difference,
            'rms_difference_cross_validated': finite_or_none(self.cross_validated),
            'noise': self.noise,
            'correlation': self.correlation,
            'fitted_samples': self.samples,
            'offset': self.offset,
            **{key: _describe_change(*values) for key, values in self.numbers.items()},
        }


@dataclass(frozen=True)
class DriveChange:
    """What became of a drive that turns with several joints.

    Attributes
    ----------
    before, after : CoupledDrive
        One that was found in the log had no inertia and no friction before.
    deviations : mapping of str to float
        Standard deviations of the numbers after, by name.
    """

    before: CoupledDrive
    after: CoupledDrive
    deviations: Mapping[str, float]

    def as_json(self) -> dict[str, Any]:
        """Return the figures; what is no number is None."""
        return {
            'name': self.after.name,
            'ratios': dict(self.after.items),
            **{
                key: _describe_change(
                    getattr(self.before, key), getattr(self.after, key), deviation
                )
                for key, deviation in self.deviations.items()
            },
        }


@dataclass(frozen=True, eq=False)
class Report:
    """Report of an identification.

    Attributes
    ----------
    joints : tuple of JointChange
    bodies : tuple of BodyChange
    findings : tuple of Finding
        With an 'error' among them, the result must not be used.
    fitted, held_out : int
        Filtered samples in the fit and held out. The identified model is fitted to all of them;
        the figures of the held-out part are for a model fitted to the others.
    repeated : int
        Samples left out because they repeat the sample before.
    outliers : int
        Efforts of single joints with a weight below one half.
    blocks : int
        Blocks of the cross-validation.
    spread : float
        Prior scale: relative error of the given inertias that the fit assumed.
    optimality_gap : float
        Upper bound on the distance of the objective from its minimum, as a log-likelihood.
    logs : tuple of (str, str)
        Name of each log, and a summary of its samples.
    base_parameters : tuple of BaseParameter
        Identifiable combinations of the inertial parameters.
    drives : tuple of DriveChange
        Coupled drives.
    cutoff_frequency : float
        [Hz]
    identifiable : int
        Directions in the space of inertial parameters that some motion could identify.
    determined : int
        Of these, directions in which the log alone gives a standard deviation below half of the
        given inertias.
    condition_number : float
        Ratio of the largest to the smallest singular value of the weighted base regressor, for
        identifiable directions in units of their prior scale, with friction projected out.
    """

    joints: tuple[JointChange, ...]
    bodies: tuple[BodyChange, ...]
    findings: tuple[Finding, ...]
    fitted: int
    held_out: int
    cutoff_frequency: float
    identifiable: int
    determined: int
    condition_number: float
    repeated: int
    outliers: int
    blocks: int
    spread: float
    optimality_gap: float
    base_parameters: tuple[BaseParameter, ...]
    logs: tuple[tuple[str, str], ...]
    drives: tuple[DriveChange, ...]

    @property
    def log(self) -> str:
        """Summary of the logs that were read."""
        return '; '.join(summary for _, summary in self.logs)

    @property
    def has_errors(self) -> bool:
        """Whether the result must not be used."""
        return any(finding.severity == 'error' for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """Return the report as data for JSON."""
        return {
            'log': self.log,
            'logs': [{'source': source, 'summary': summary} for source, summary in self.logs],
            'fitted_samples': self.fitted,
            'held_out_samples': self.held_out,
            'repeated_samples': self.repeated,
            'outliers': self.outliers,
            'cutoff_frequency': self.cutoff_frequency,
            'blocks': self.blocks,
            'spread': self.spread,
            'optimality_gap': self.optimality_gap,
            'identifiable_directions': self.identifiable,
            'determined_directions': self.determined,
            'condition_number': finite_or_none(self.condition_number),
            'joints': [joint.as_json() for joint in self.joints],
            'bodies': [body.as_json() for body in self.bodies],
            'base_parameters': [vars(parameter).copy() for parameter in self.base_parameters],
            'findings': [
                {'element': finding.element, **finding.as_json()} for finding in self.findings
            ],
            **(
                {'coupled_drives': [drive.as_json() for drive in self.drives]}
                if self.drives
                else {}
            ),
        }


@dataclass(frozen=True, eq=False)
class Identified:
    """An identified model.

    Attributes
    ----------
    robot : Robot
        The given robot with the identified inertias, friction and rotor inertias.
    report : Report
    evidence : FitEvidence
        The signals that the fit used.
    """

    robot: Robot
    report: Report
    evidence: FitEvidence
