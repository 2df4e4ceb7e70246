"""What of an identified model cannot be of a body or a gear, whatever the log says."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from ne_dynamics.identification.thresholds import PLAUSIBILITY
from ne_dynamics.logs import Finding
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint, Robot

Bounds = Mapping[int, tuple[FloatArray, FloatArray]]
"""Least and largest coordinates, shape (3,), of what a body may be within, by its index."""


def find_implausible_values(
    given: Robot, identified: Robot, bounds: Bounds | None = None
) -> list[Finding]:
    """Return what of an identified robot is out of proportion.

    The bounds of a body, by its index, are those of its collision shapes, in its frame [m]; the
    centre of mass of one without is not looked at.
    """
    findings: list[Finding] = []
    for index, (old, new) in enumerate(zip(given.bodies, identified.bodies, strict=True)):
        before, after = old.inertia, new.inertia
        findings += _check_mass(old.name, before.mass, after.mass)
        is_new = not np.array_equal(before.first_moment, after.first_moment)
        if is_new and bounds is not None and index in bounds:
            findings += _check_center(
                old.name, before.center_of_mass, after.center_of_mass, *bounds[index]
            )
    for joint, fitted in zip(given.joints, identified.joints, strict=True):
        findings += _check_friction(joint, fitted)
    return findings


def _is_apart(before: float, after: float, factor: float) -> bool:
    return before > 0.0 and not before / factor < after < before * factor


def _check_mass(link: str, before: float, after: float) -> Iterator[Finding]:
    is_wrong = _is_apart(before, after, PLAUSIBILITY.mass_factor)
    if is_wrong or _is_apart(before, after, PLAUSIBILITY.remarked_mass_factor):
        yield Finding(
            'mass-implausible',
            (),
            f'expected about the {before:.4g} kg of the given model, got {after:.4g} kg: '
            'what the model lacks (a load, a drive, friction of another kind) went into '
            'it, or the given mass is wrong',
            after,
            remedy='do not read it as a mass: look for a load that the model lacks, or a '
            'wrong mass in the model',
            severity='warning' if is_wrong else 'info',
            link=link,
        )


def _check_center(
    link: str, given: FloatArray, center: FloatArray, lower: FloatArray, upper: FloatArray
) -> Iterator[Finding]:
    before, outside = (
        float(np.linalg.norm(each - np.clip(each, lower, upper))) for each in (given, center)
    )
    if outside > before + PLAUSIBILITY.center_margin * float(np.linalg.norm(upper - lower)):
        yield Finding(
            'center-implausible',
            (),
            f'the centre of mass, {np.array2string(center, precision=3)} m in the frame of the '
            f'link, is {outside:.3g} m outside the box around its collision shapes',
            outside,
            remedy='do not read it as a centre of mass: what the model lacks went into it, or '
            'the shapes are not those of the link',
            severity='info',
            link=link,
        )


def _check_friction(given: Joint, fitted: Joint) -> Iterator[Finding]:
    before, after = _dry_friction(given), _dry_friction(fitted)
    unit, share = given.type.effort_unit, PLAUSIBILITY.friction_share
    limit, fastest = given.effort_limit, given.velocity_limit
    most = after + fitted.viscous_friction * fastest if math.isfinite(fastest) else after
    amount, what = after, f'dry friction of {after:.3g} {unit}'
    if 0.0 < share * limit < after:
        reason = f'more than {share:.0%} of the effort limit of {limit:.4g} {unit}'
    elif 0.0 < limit < most:
        amount = most
        what = f'friction of {most:.3g} {unit} at the velocity limit of {fastest:.4g} '
        what += f'{given.type.position_unit}/s'
        reason = f'more than the effort limit of {limit:.4g} {unit}'
    elif _is_apart(before, after, PLAUSIBILITY.friction_factor):
        reason = f'expected the order of the {before:.3g} {unit} of the given model'
    else:
        return
    yield Finding(
        'friction-implausible',
        (given.name,),
        f'{what}: {reason}',
        amount,
        remedy='look at unit and sign of the efforts of this joint, and whether it was moved '
        'in both directions',
        severity='info',
    )


def _dry_friction(joint: Joint) -> float:
    """Return the friction that has turned round, without the viscous one [N m or N]."""
    return joint.coulomb_friction + joint.friction.hysteresis_friction
