"""What is doubtful about a log and about what was made of it."""

from __future__ import annotations

from collections.abc import Sequence

from ne_dynamics.identification.evaluation import JointResidual
from ne_dynamics.identification.signal_summary import SignalSummary
from ne_dynamics.model.robot import Finding, Robot

POOR_EXCITATION = 1.0 / 3.0
"""Part of the identifiable directions below which a log tells too little."""

NOISY = 0.3
"""Part of the acceleration that may be noise."""

VELOCITY_ERROR = 0.1
"""Part of the velocity by which the log's own may differ."""

WORSE = 1.2
"""How many times larger a residual is called worse: noise makes some of it."""

NEGLIGIBLE = 0.002
"""Part of the measured effort by which a residual has to be larger, too."""

OUT_OF_PROPORTION = 3.0
"""Factor between a given mass and an identified one from which one of them is not believed."""


def find_log_faults(robot: Robot, summary: SignalSummary) -> list[Finding]:
    """Return what is doubtful about logs.

    Parameters
    ----------
    robot : Robot
    summary : SignalSummary
    """
    findings: list[Finding] = []

    def add(severity: str, code: str, name: str, message: str) -> None:
        findings.append(Finding(severity, code, f'joint {name!r}', message))

    for joint, logs in zip(robot.joints, summary.without_effort, strict=True):
        if logs:
            where = ', '.join(logs)
            add(
                'error',
                'effort-zero',
                joint.name,
                f'the effort is 0 throughout{f" in {where}" * bool(where)}: expected what the '
                'motor applied',
            )
    if not summary.is_excited:
        findings.append(
            Finding(
                'warning',
                'no-excitation',
                'log',
                'no joint moves with an effort below its limit: nothing can be identified, the '
                'model is left as it is',
            )
        )
        return findings
    for index, joint in enumerate(robot.joints):
        if not summary.effort[index] > 0.0:
            continue
        if summary.saturated[index] > 0.0:
            add(
                'warning',
                'effort-saturated',
                joint.name,
                f'the effort is at its limit in {summary.saturated[index]:.1%} of the samples, '
                'which are left out',
            )
        if not summary.moves[index]:
            add(
                'warning',
                'joint-still',
                joint.name,
                'it does not move: its effort is not used (what sticks may carry any), and its '
                'friction stays as given',
            )
            continue
        noise, size = summary.acceleration_noise[index], summary.acceleration[index]
        if noise > NOISY * size:
            add(
                'warning',
                'acceleration-noisy',
                joint.name,
                f'position noise alone makes {noise:.3g} of {size:.3g} of its acceleration: move '
                'faster, or lower the cut-off',
            )
        if summary.opposed[index]:
            add(
                'error',
                'wrong-sign',
                joint.name,
                "the measured effort runs against the model's: expected the effort along the "
                "joint's positive direction",
            )
        if summary.velocity_error[index] > VELOCITY_ERROR:
            add(
                'warning',
                'velocity-disagrees',
                joint.name,
                f'the velocity of the log is {summary.velocity_error[index]:.0%} off the '
                'derivative of its position, which is used: units, sign, or a slow filter in the '
                'driver?',
            )
    return findings


def find_result_faults(
    results: Sequence[tuple[JointResidual, ...]],
    identifiable: int,
    determined: int,
    held_out: bool,
) -> list[Finding]:
    """Return what is doubtful about what came out.

    Parameters
    ----------
    results : sequence of two tuples of JointResidual
        Of the given model and of the identified one.
    identifiable, determined : int
        Directions of the inertial parameters.
    held_out : bool
        Whether the residuals are those of a part that was not fitted.
    """
    findings: list[Finding] = []
    if 0 < determined < POOR_EXCITATION * identifiable:
        findings.append(
            Finding(
                'warning',
                'excitation-poor',
                'log',
                f'it tells {determined} of {identifiable} directions of the inertial parameters: '
                'the others stay as given; move all joints, farther and faster',
            )
        )
    for before, after in zip(*results, strict=True):
        allowed = NEGLIGIBLE * before.rms_measured
        if after.rms_difference > max(
            WORSE * before.rms_difference, before.rms_difference + allowed
        ):
            part = 'that was not fitted' if held_out else 'that was fitted'
            findings.append(
                Finding(
                    'warning',
                    'not-better',
                    f'joint {before.name!r}',
                    f'on the part of the log {part} the identified model is off by '
                    f'{after.rms_difference:.3g} {after.unit}, the given one by '
                    f'{before.rms_difference:.3g} {before.unit}',
                )
            )
    return findings


def find_implausible_masses(given: Robot, identified: Robot) -> list[Finding]:
    """Return the bodies whose mass is out of all proportion to the given one.

    Parameters
    ----------
    given, identified : Robot
    """
    findings = []
    for old, new in zip(given.bodies, identified.bodies, strict=True):
        before, after = old.inertia.mass, new.inertia.mass
        if before > 0.0 and not before / OUT_OF_PROPORTION < after < before * OUT_OF_PROPORTION:
            findings.append(
                Finding(
                    'warning',
                    'mass-implausible',
                    f'link {old.name!r}',
                    f'expected about the {before:.4g} kg of the given model, got {after:.4g} kg: '
                    'what the model lacks (a load, a drive, friction of another kind) went into '
                    'it, or the given mass is wrong',
                )
            )
    return findings
