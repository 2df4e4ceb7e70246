"""What is doubtful about a log and about what was made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ne_dynamics.identification.evaluation import JointResidual
from ne_dynamics.identification.signal_summary import SignalSummary
from ne_dynamics.identification.thresholds import IDENTIFICATION
from ne_dynamics.logs import Finding
from ne_dynamics.model.robot import Robot


def find_log_faults(robot: Robot, summary: SignalSummary) -> list[Finding]:
    """Return what is doubtful about logs."""
    findings = [
        Finding(
            'effort-zero',
            (joint.name,),
            f'the effort is 0 throughout{_list_logs(logs)}: expected what the motor applied',
            remedy='record what the motors applied: the driver fills the field with zeros',
        )
        for joint, logs in zip(robot.joints, summary.without_effort, strict=True)
        if logs
    ]
    if not summary.is_excited:
        return [
            *findings,
            Finding(
                'no-excitation',
                (),
                'no joint moves with an effort below its limit: nothing can be identified, the '
                'model is left as it is',
                remedy='record a motion: all joints at once, for 20 s or longer',
                severity='warning',
            ),
        ]
    for index, joint in enumerate(robot.joints):
        if summary.effort[index] > 0.0:
            findings += _find_joint_faults(joint.name, index, summary)
    return findings


def _list_logs(logs: Sequence[str]) -> str:
    where = ', '.join(logs)
    return f' in {where}' if where else ''


def _find_joint_faults(name: str, index: int, summary: SignalSummary) -> Iterator[Finding]:
    """Yield what is doubtful about the signals of a joint."""
    if summary.saturated[index] > 0.0:
        yield Finding(
            'effort-saturated',
            (name,),
            f'the effort is at its limit in {summary.saturated[index]:.1%} of the samples, which '
            'are left out',
            remedy='record a motion with smaller accelerations; the samples at the limit are left '
            'out of the fit',
            severity='warning',
        )
    if not summary.moves[index]:
        yield Finding(
            'joint-still',
            (name,),
            'it does not move: its effort is not used (what sticks may carry any), and its '
            'friction stays as given',
            remedy='move this joint too when its friction or the links behind it matter',
            severity='warning',
        )
        return
    noise, size = summary.acceleration_noise[index], summary.acceleration[index]
    if noise > IDENTIFICATION.noisy_acceleration * size:
        yield Finding(
            'acceleration-noisy',
            (name,),
            f'position noise alone makes {noise:.3g} of {size:.3g} of its acceleration: move '
            'faster, or lower the cut-off',
            remedy='move faster, or lower --cutoff',
            severity='warning',
        )
    if summary.opposed[index]:
        yield Finding(
            'wrong-sign',
            (name,),
            "the measured effort runs against the model's: expected the effort along the joint's "
            'positive direction',
            remedy='--sign JOINT, or look at the direction of the axis in the model',
        )
    if summary.velocity_error[index] > IDENTIFICATION.velocity_error:
        yield Finding(
            'velocity-disagrees',
            (name,),
            f'the velocity of the log is {summary.velocity_error[index]:.0%} off the derivative '
            'of its position, which is used: units, sign, or a slow filter in the driver?',
            remedy='look at units, signs and filters of the driver; the velocity of the log is '
            'not used, its positions are',
            severity='warning',
        )


def find_result_faults(
    results: Sequence[tuple[JointResidual, ...]],
    identifiable: int,
    determined: int,
    held_out: bool,
) -> list[Finding]:
    """Return what is doubtful about what came out.

    The results are those of the given model and of the identified one: of a part that was not
    fitted if it was `held_out`. `identifiable` and `determined` count directions of the inertial
    parameters.
    """
    findings: list[Finding] = []
    if 0 < determined < IDENTIFICATION.poor_excitation * identifiable:
        findings.append(
            Finding(
                'excitation-poor',
                (),
                f'it tells {determined} of {identifiable} directions of the inertial parameters: '
                'the others stay as given; move all joints, farther and faster',
                remedy='record anew, over different heights and with both directions of every '
                'joint; links that are not determined keep the given values',
                severity='warning',
            )
        )
    for before, after in zip(*results, strict=True):
        allowed = IDENTIFICATION.negligible_residual * before.rms_measured
        if after.rms_difference > max(
            IDENTIFICATION.worse_residual * before.rms_difference, before.rms_difference + allowed
        ):
            part = 'that was not fitted' if held_out else 'that was fitted'
            findings.append(
                Finding(
                    'not-better',
                    (before.name,),
                    f'on the part of the log {part} the identified model is off by '
                    f'{after.rms_difference:.3g} {after.unit}, the given one by '
                    f'{before.rms_difference:.3g} {before.unit}',
                    remedy='do not use the identified values of this joint; record longer, or '
                    'look for what the model lacks (a load, a cable, a spring, warm and cold '
                    'friction)',
                    severity='warning',
                )
            )
    return findings
