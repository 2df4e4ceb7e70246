"""Designed gains: margins, errors, settings to use them, and what is doubtful about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, isfinite, log10
from typing import Any

import numpy as np

from ne_dynamics.control import VelocitySource
from ne_dynamics.errors import InputError
from ne_dynamics.gains.kind import Choice
from ne_dynamics.gains.margins import Margins
from ne_dynamics.gains.motion import MotionSamples
from ne_dynamics.gains.plants import Plants
from ne_dynamics.gains.prediction import MotionErrors, StepResponses
from ne_dynamics.gains.request import GainMode, GainRequest
from ne_dynamics.gains.thresholds import GAINS, ROUNDING
from ne_dynamics.json_numbers import as_json_numbers
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint
from ne_dynamics.tables import name_error_unit, text_table

TITLES = {
    GainMode.COMPUTED_TORQUE: 'the node, mode computed_torque [1/s^2, 1/s]',
    GainMode.FEEDFORWARD_PD: 'the node, mode feedforward_pd [N m/rad, N m s/rad; N/m, N s/m]',
    GainMode.JTC: 'joint_trajectory_controller, effort [N m/rad, N m s/rad; N/m, N s/m]',
    GainMode.MIT: 'drives that close the loop (MIT mode) [N m/rad, N m s/rad; N/m, N s/m]',
}

DRIVE_INTERFACES = ('position', 'velocity', 'effort', 'proportional', 'derivative')


@dataclass(frozen=True, eq=False)
class ModeDesign:
    """The design for one mode.

    Attributes
    ----------
    choice : Choice
        Gains, natural frequencies and the margins of all joints at once in all poses.
    joint_margins : Margins
        Margins of each joint with the other loops closed, the smallest of all poses; arrays of
        shape (n,).
    sag : array, shape (n,)
        Largest error at rest before an integral has acted [rad or m].
    noise : array, shape (n,)
        Change of effort by one step of all encoders [N m or N].
    steps : StepResponses
    motion : MotionErrors
    """

    choice: Choice
    joint_margins: Margins
    sag: FloatArray
    noise: FloatArray
    steps: StepResponses
    motion: MotionErrors


@dataclass(frozen=True, eq=False)
class GainDesign:
    """Designed gains with their margins and predictions, and the settings to use them.

    Attributes
    ----------
    joints : tuple of Joint
    request : GainRequest
    plants : Plants
    motion : MotionSamples
        Motion for which the errors are predicted.
    modes : mapping of GainMode to ModeDesign
    refusals : mapping of GainMode to str
        Modes without gains, with the reason.
    relaxed : mapping of GainMode to str
        Modes whose gains have smaller margins than requested, with the reason.
    """

    joints: tuple[Joint, ...]
    request: GainRequest
    plants: Plants
    motion: MotionSamples
    modes: Mapping[GainMode, ModeDesign]
    refusals: Mapping[GainMode, str]
    relaxed: Mapping[GainMode, str]

    def of(self, mode: GainMode | str) -> ModeDesign:
        """Return the design for a mode.

        Raises
        ------
        InputError
            When there are no gains for it, with the reason.
        """
        asked = GainMode(mode)
        if asked in self.modes:
            return self.modes[asked]
        raise InputError(
            self.refusals.get(asked, f'modes: expected {asked.value} among those asked for')
        )

    def node_parameters(self, mode: GainMode | str | None = None) -> dict[str, Any]:
        """Return the node's parameters for a mode, by their dotted names.

        Parameters
        ----------
        mode : GainMode or str, optional
            Default: the first mode with gains. With `mit` the node feeds forward and sends the
            gains to the drives with the command.

        Raises
        ------
        InputError
            When there are no gains for the mode, or it is not a mode of the node.
        """
        if mode is None:
            of_node = [one for one in self.modes if one is not GainMode.JTC]
            if not of_node:
                raise InputError('; '.join(self.refusals.values()) or 'modes: none of the node')
            mode = of_node[0]
        asked = GainMode(mode)
        if asked is GainMode.JTC:
            raise InputError('mode: expected one of the node, got jtc')
        choice = self.of(asked).choice
        kp, kd = rounded(choice.gains.kp), rounded(choice.gains.kd)
        if asked is GainMode.MIT:
            return {
                'mode': 'feedforward',
                'command.interfaces': list(DRIVE_INTERFACES),
                'command.kp': kp,
                'command.kd': kd,
            }
        parameters: dict[str, Any] = {
            'mode': asked.value,
            f'{asked.value}.kp': kp,
            f'{asked.value}.kv': kd,
            'velocity_source': VelocitySource(self.request.velocity_source).value,
        }
        if choice.kind.cutoff:
            parameters['velocity_cutoff_frequency'] = float(choice.kind.cutoff)
        return parameters

    def jtc_gains(self) -> dict[str, dict[str, float]]:
        """Return the block `gains` of joint_trajectory_controller, by joint.

        The integral is clamped to the sum of gravity, model error and friction, so that it can
        carry the arm when a trajectory has no efforts. A joint without these has no integral.

        Raises
        ------
        InputError
            When there are no gains for it.
        """
        gains = self.of(GainMode.JTC).choice.gains
        clamps = self.integral_clamps()
        limits = self.request.limits(self.joints)
        rows = zip(*(rounded(gain) for gain in gains), clamps, limits.tolist(), strict=True)
        block: dict[str, dict[str, float]] = {}
        for joint, (p, d, i, clamp, limit) in zip(self.joints, rows, strict=True):
            row = {'p': p, 'i': i if clamp else 0.0, 'd': d, 'ff_velocity_scale': 0.0}
            if row['i']:
                row |= {'i_clamp_max': clamp, 'i_clamp_min': -clamp}
            if isfinite(limit):
                row |= {'u_clamp_max': limit, 'u_clamp_min': -limit}
            block[joint.name] = row
        return block

    def drive_gains(self) -> dict[str, dict[str, float]]:
        """Return kp and kd of the drives, by joint.

        Raises
        ------
        InputError
            When there are no gains for them.
        """
        gains = self.of(GainMode.MIT).choice.gains
        return {
            joint.name: {'kp': kp, 'kd': kd}
            for joint, kp, kd in zip(
                self.joints, rounded(gains.kp), rounded(gains.kd), strict=True
            )
        }

    def as_json(self) -> dict[str, Any]:
        """Return the design as data for JSON, without numbers that are not finite."""
        request = self.request
        return {
            'joints': [joint.name for joint in self.joints],
            'rate': request.rate,
            'dead_time': request.dead_time,
            'uncertainty': request.uncertainty,
            'payload': list(request.payload_range),
            'poses': len(self.plants.poses),
            'held_share': self.plants.held_share,
            'motion': {'name': self.motion.name, 'duration': self.motion.duration},
            'modes': {mode.value: self._mode_as_json(one) for mode, one in self.modes.items()},
            'remarks': self.remarks(),
        }

    def _mode_as_json(self, one: ModeDesign) -> dict[str, Any]:
        choice = one.choice
        return {
            'kp': rounded(choice.gains.kp),
            'kd': rounded(choice.gains.kd),
            'ki': rounded(choice.gains.ki),
            'natural_frequency': as_json_numbers(choice.frequency),
            'damping_ratio': as_json_numbers(choice.damping),
            'velocity_cutoff_frequency': choice.kind.cutoff or None,
            'limited_by': list(choice.active),
            'margins': choice.margins.worst().as_json(),
            'joint_margins': one.joint_margins.as_json(),
            'sag': as_json_numbers(one.sag),
            'noise': as_json_numbers(one.noise),
            'overshoot': as_json_numbers(one.steps.overshoot),
            'coupling': as_json_numbers(one.steps.coupling),
            'settling_time': as_json_numbers(one.steps.settling_time),
            'rms_error': as_json_numbers(one.motion.rms),
            'peak_error': as_json_numbers(one.motion.peak),
        }

    def text(self) -> str:
        """Return the design as text for people."""
        return _describe_design(self)

    def integral_clamps(self) -> list[float]:
        """Return the clamp of each joint's integral [N m or N]; 0 for no integral."""
        largest = self.plants.largest_gravity(self.request)
        largest = largest + (1.0 + self.request.uncertainty) * self.plants.holding_friction
        largest = np.where(largest > ROUNDING * largest.max(), largest, 0.0)
        return rounded(np.minimum(largest, self.request.limits(self.joints)))

    def excessive_errors(self) -> list[str]:
        """Return one sentence per mode whose predicted errors exceed those of the request."""
        allowed = self.request.largest_errors(self.joints)
        sentences = []
        for mode, one in self.modes.items():
            parts = one.motion.rms / allowed
            worst = int(parts.argmax())
            if not parts[worst] > 1.0:
                continue
            joint = self.joints[worst]
            unit, option = (
                ('mm', 'sliding_error') if joint.type.is_prismatic else ('mrad', 'position_error')
            )
            sentences.append(
                f'{mode.value}: expected errors of the motion within {option}, '
                f'{1e3 * allowed[worst]:.3g} {unit}, got {1e3 * one.motion.rms[worst]:.3g} {unit} '
                f'(RMS) of joint {joint.name!r}: {self.request.rate:g} Hz and a dead time of '
                f'{1e3 * self.request.dead_time:.4g} ms are too slow for the motion, or it is too '
                'fast'
            )
        return sentences

    def remarks(self) -> list[str]:
        """Return remarks on doubtful results, one sentence each."""
        found = [*self.excessive_errors(), *self.refusals.values(), *self.relaxed.values()]
        if self.plants.held_share < 1.0:
            found.append(
                f'in {100.0 * (1.0 - self.plants.held_share):.0f} % of the poses the motors '
                'cannot hold the arm with its largest payload and masses, and a tenth of their '
                'limits to spare: these were left out'
            )
        unlimited = [
            joint.name
            for joint, limit in zip(
                self.joints, self.request.limits(self.joints).tolist(), strict=True
            )
            if not isfinite(limit)
        ]
        if unlimited:
            found.append(
                f'no effort limit of {", ".join(unlimited)}: noise and effort bound no gain there'
            )
        found += self._remark_rotors()
        for mode, one in self.modes.items():
            if mode is GainMode.JTC:
                found += self._remark_integral(one)
            if mode is GainMode.MIT:
                found += self._remark_ranges(one)
        return found

    def _remark_rotors(self) -> list[str]:
        """Return what is missing in the model where inertias that change bound the gains."""
        shared = np.diag(self.plants.robot.coupled_inertia)
        rotorless = [
            joint.name
            for joint, more in zip(self.joints, shared, strict=True)
            if not joint.reflected_inertia + more > 0.0
        ]
        if not rotorless or not (self.refusals or self.relaxed):
            return []
        return [
            f'{", ".join(rotorless)} have no rotor_inertia in the model (it goes into the '
            'file of extras): with it the inertia of a joint changes less from pose to pose, '
            'and gains that are efforts per error can be larger'
        ]

    def _remark_integral(self, design: ModeDesign) -> list[str]:
        if not design.choice.gains.ki.any():
            without = 'jtc: no integral: with one there are no gains that keep the margins'
            return [without] if self.request.integral else []
        idle = [
            joint.name
            for joint, clamp in zip(self.joints, self.integral_clamps(), strict=True)
            if not clamp
        ]
        if not idle:
            return []
        return [
            f'jtc: no integral for {", ".join(idle)} in the file: by the model '
            'neither gravity nor Coulomb friction holds them; friction goes into '
            'the file of extras'
        ]

    def _remark_ranges(self, design: ModeDesign) -> list[str]:
        least = self.request.drive_kp_range[0], self.request.drive_kd_range[0]
        return [
            f'mit: joint {joint.name!r}: {what} is {value:.4g}, and the drive takes no less than '
            f'{end:g}'
            for what, gain, end in zip(('kp', 'kd'), design.choice.gains[:2], least, strict=True)
            for joint, value in zip(self.joints, gain.tolist(), strict=True)
            if value < end
        ]


def rounded(values: FloatArray) -> list[float]:
    """Return numbers with as many digits as are written."""
    return [float(f'{value:.{GAINS.gain_digits}g}') for value in values.tolist()]


def _describe_design(design: GainDesign) -> str:
    """Return the tables of all modes, and remarks."""
    request, plants = design.request, design.plants
    least, largest = request.payload_range
    steps = request.position_steps(len(design.joints))
    lines = [
        *(f'warning: {sentence}' for sentence in design.excessive_errors()),
        f'{len(plants.poses)} poses, masses within {100.0 * request.uncertainty:g} %, payload '
        f'{least:g} to {largest:g} kg; {request.rate:g} Hz, dead time '
        f'{1e3 * request.dead_time:.4g} ms, encoder steps up to {steps.max():.3g}',
        f'errors are those of: {design.motion.name}, {design.motion.duration:.3g} s',
    ]
    for mode, one in design.modes.items():
        lines += ['', TITLES[mode], _describe_loop(design, one), '', _table(design, mode, one)]
    remarks = [each for each in design.remarks() if each not in design.excessive_errors()]
    if remarks:
        lines += ['', *(f'remark: {remark}' for remark in remarks)]
    return '\n'.join(lines)


def _describe_loop(design: GainDesign, one: ModeDesign) -> str:
    choice = one.choice
    worst = choice.margins.worst()
    text = (
        f'all joints at once, the worst pose and model: {float(worst.phase):.0f} degrees, '
        f'gains times {_number(float(worst.gain))}'
    )
    if isfinite(float(worst.reduction)):
        text += f' or by {_rounded_down(float(worst.reduction))}'
    text += f', {1e3 * float(worst.delay):.3g} ms more of delay'
    if choice.kind.cutoff:
        text += f'; velocity_cutoff_frequency {choice.kind.cutoff:g} Hz'
    return text


def _table(design: GainDesign, mode: GainMode, one: ModeDesign) -> str:
    choice, margins = one.choice, one.joint_margins
    limits = design.request.limits(design.joints)
    has_integral = bool(choice.gains.ki.any())
    heading = ['', 'kp', 'kd', *['ki'] * has_integral]
    heading += ['rad/s', 'margin', 'gain', 'delay', 'sag', 'RMS', 'noise', 'overshoot', '']
    units = ['', '', '', *[''] * has_integral]
    error = name_error_unit(joint.type.is_prismatic for joint in design.joints)
    units += ['', 'deg', '', 'ms', error, error, '% limit', '%', 'limited by']
    rows = []
    for index, joint in enumerate(design.joints):
        row = [joint.name, *(_number(float(gain[index])) for gain in choice.gains[:2])]
        row += [_number(float(choice.gains.ki[index]))] * has_integral
        noise = 100.0 * one.noise[index] / limits[index]
        row += [
            _number(float(choice.frequency[index])),
            f'{margins.phase[index]:.0f}',
            _number(float(margins.gain[index])),
            _number(1e3 * float(margins.delay[index])),
            _number(1e3 * float(one.sag[index])),
            _number(1e3 * float(one.motion.rms[index])),
            _number(float(noise)),
            f'{max(100.0 * one.steps.overshoot[index], 0.0):.0f}',
            choice.active[index],
        ]
        rows.append(row)
    return text_table([heading, units], rows)


def _rounded_down(value: float) -> str:
    """Return a margin with three digits, and no larger than it is."""
    digit = 10.0 ** (floor(log10(value)) - 2)
    return f'{floor(value / digit) * digit:.3g}'


def _number(value: float) -> str:
    return f'{value:.3g}' if isfinite(value) else '-'
