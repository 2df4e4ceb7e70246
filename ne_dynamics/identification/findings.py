"""What is doubtful about a log and about what was made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.identification.evaluation import JointResidual, rms
from ne_dynamics.identification.signals import Signals
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Finding, Robot

POOR_EXCITATION = 1.0 / 3.0
"""Part of the identifiable directions below which a log tells too little."""

OPPOSED = -0.5
"""Correlation of measured and computed effort from which the sign is wrong."""

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


def find_opposed(signals: Signals, given: FloatArray) -> NDArray[np.bool_]:
    """Return the joints whose measured effort runs against the given model's, shape (n,).

    Parameters
    ----------
    signals : Signals
    given : array, shape (M, n)
        Efforts of the given model [N m or N].
    """
    measured, computed = signals.effort * signals.usable, given * signals.usable
    size = np.linalg.norm(measured, axis=0) * np.linalg.norm(computed, axis=0)
    result: NDArray[np.bool_] = (measured * computed).sum(axis=0) < OPPOSED * size
    return result


def find_log_faults(
    robot: Robot, signals: Signals, fitted: int, given: FloatArray
) -> list[Finding]:
    """Return what is doubtful about a log.

    Parameters
    ----------
    robot : Robot
    signals : Signals
    fitted : int
        Samples, from the first, that are fitted.
    given : array, shape (M, n)
        Efforts of the given model [N m or N].
    """
    findings: list[Finding] = []

    def add(severity: str, code: str, name: str, message: str) -> None:
        findings.append(Finding(severity, code, f'joint {name!r}', message))

    for joint, measured in zip(robot.joints, signals.effort.T, strict=True):
        if not measured.any():
            add(
                'error',
                'effort-zero',
                joint.name,
                'the effort is 0 throughout: expected what the motor applied',
            )
    if not signals.usable[:fitted].any():
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
    scale = rms(signals.acceleration)
    opposed = find_opposed(signals, given)
    for index, joint in enumerate(robot.joints):
        measured = signals.effort[:, index]
        if not measured.any():
            continue
        if signals.saturated[index] > 0.0:
            add(
                'warning',
                'effort-saturated',
                joint.name,
                f'the effort is at its limit in {signals.saturated[index]:.1%} of the samples, '
                'which are left out',
            )
        if not signals.moves[index]:
            add(
                'warning',
                'joint-still',
                joint.name,
                'it does not move: its effort is not used (what sticks may carry any), and its '
                'friction stays as given',
            )
            continue
        if signals.acceleration_noise[index] > NOISY * scale[index]:
            add(
                'warning',
                'acceleration-noisy',
                joint.name,
                f'position noise alone makes {signals.acceleration_noise[index]:.3g} of '
                f'{scale[index]:.3g} of its acceleration: move faster, or lower the cut-off',
            )
        if opposed[index]:
            add(
                'error',
                'wrong-sign',
                joint.name,
                "the measured effort runs against the model's: expected the effort along the "
                "joint's positive direction",
            )
        if signals.measured_velocity is not None:
            _check_velocity(signals, index, joint.name, add)
    return findings


def _check_velocity(signals: Signals, index: int, name: str, add: Any) -> None:
    derived = signals.velocity[:, index]
    assert signals.measured_velocity is not None
    error = float(rms(signals.measured_velocity[:, index] - derived) / rms(derived))
    if error > VELOCITY_ERROR:
        add(
            'warning',
            'velocity-disagrees',
            name,
            f'the velocity of the log is {error:.0%} off the derivative of its position, which '
            'is used: units, sign, or a slow filter in the driver?',
        )


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
