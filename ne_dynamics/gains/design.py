"""Gains for the node, for joint_trajectory_controller and for drives, from the model.

    design = design_gains(dynamics, GainRequest(rate=500.0, delay=0.002, payload=2.0))
    design.node_parameters()        # of the node: mode, gains, velocity filter
    design.jtc_gains()              # the block `gains` of joint_trajectory_controller
    design.drive_gains()            # kp and kd of drives that close the loop
    print(design.text())

What is promised of each: the margins of the loop in every pose that was looked at, for every model
within the uncertainty (bounds of definite matrices for rigid arms, see
:mod:`ne_dynamics.gains.plants`), and by how much the arm will be off. No friction is
counted on.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from ne_dynamics.control import VelocitySource
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.gains.falling import Falls
from ne_dynamics.gains.findings import GainFindings, ModeDesign, rounded
from ne_dynamics.gains.kind import Choice, corner_modes
from ne_dynamics.gains.loop import frequencies, open_loop, resting_loop
from ne_dynamics.gains.margins import margins_of_joints
from ne_dynamics.gains.motion import MotionSamples, make_test_motion, sample_waypoints
from ne_dynamics.gains.plants import Plants, gather_plants
from ne_dynamics.gains.prediction import (
    predict_motion,
    predict_noise,
    predict_sag,
    predict_steps,
)
from ne_dynamics.gains.request import GainMode, GainRequest
from ne_dynamics.gains.search import GainSearch
from ne_dynamics.gains.text import describe_design
from ne_dynamics.json_numbers import as_json_numbers
from ne_dynamics.model.separate_drives import refuse_coupled_drives
from ne_dynamics.motion import Waypoints

DRIVE_INTERFACES = ('position', 'velocity', 'effort', 'proportional', 'derivative')


class GainDesign(GainFindings):
    """Designed gains with their margins and predictions, and the settings to use them."""

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
        return describe_design(self)


def design_gains(
    dynamics: Dynamics, request: GainRequest | None = None, motion: Waypoints | None = None
) -> GainDesign:
    """Return feedback gains with their margins and predicted errors.

    Parameters
    ----------
    dynamics : Dynamics
        Dynamics of the model that is fed forward.
    request : GainRequest, optional
    motion : Waypoints, optional
        Motion for which errors are predicted; begins at rest at its first point. Default: a
        motion of all joints there and back.

    Raises
    ------
    InputError
        When the request does not fit the model, or no mode has useful gains.
    TrajectoryError
        When the motion cannot be followed.
    """
    request = GainRequest() if request is None else request
    joints = dynamics.robot.joints
    request.position_steps(len(joints))
    if request.joint_stiffness(joints) is not None:
        refuse_coupled_drives(dynamics.robot.coupled_drives, 'stiffness')
    plants = gather_plants(dynamics, request)
    falls = {
        is_compensated: Falls(dynamics, request, is_compensated=is_compensated)
        for is_compensated in sorted({mode is GainMode.COMPUTED_TORQUE for mode in request.modes})
    }
    for is_compensated, one in falls.items():
        one.search(np.ones(len(joints)) if is_compensated else plants.scale)
    samples = (
        make_test_motion(dynamics, plants, request)
        if motion is None
        else sample_waypoints(motion, motion.positions[0], request.period, 'trajectory')
    )
    modes: dict[GainMode, ModeDesign] = {}
    refusals: dict[GainMode, str] = {}
    relaxed: dict[GainMode, str] = {}
    for mode in map(GainMode, request.modes):
        fall = falls[mode is GainMode.COMPUTED_TORQUE]
        try:
            choice = GainSearch(mode, plants, request, fall).choose()
        except InputError as error:
            found = _choose_relaxed(mode, plants, request, fall)
            if found is None:
                refusals[mode] = str(error)
                continue
            phase, gain, choice = found
            relaxed[mode] = (
                f'{error}. These keep {phase:g} degrees and a factor of {gain:g}: be careful'
            )
        modes[mode] = _judge(choice, dynamics, plants, request, samples)
    if not modes:
        raise InputError('; '.join(refusals.values()))
    return GainDesign(joints, request, plants, samples, modes, refusals, relaxed)


def _choose_relaxed(
    mode: GainMode, plants: Plants, request: GainRequest, falls: Falls
) -> tuple[float, float, Choice] | None:
    """Return gains with the first of the smaller margins that there are some for."""
    for phase, gain in request.relaxed_margins:
        if phase >= request.phase_margin or gain >= request.gain_margin:
            continue
        less = replace(request, phase_margin=phase, gain_margin=gain)
        with suppress(InputError):
            return phase, gain, GainSearch(mode, plants, less, falls).choose()
    return None


def _judge(
    choice: Choice,
    dynamics: Dynamics,
    plants: Plants,
    request: GainRequest,
    motion: MotionSamples,
) -> ModeDesign:
    modes = corner_modes(choice.kind.mode, plants, request)
    timing, weights = choice.kind.timing, choice.kind.corner_weights
    at = frequencies(timing, modes)
    loop = open_loop(modes, weights, choice.gains, timing, at)
    return ModeDesign(
        choice,
        margins_of_joints(loop, at, resting_loop(modes, weights, choice.gains)).worst(),
        predict_sag(choice, plants, request),
        predict_noise(choice, request, dynamics.n),
        predict_steps(choice, plants, request),
        predict_motion(choice, dynamics, plants, request, motion),
    )
