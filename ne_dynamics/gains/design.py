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

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.gains.designed_gains import GainDesign, ModeDesign
from ne_dynamics.gains.falling import Falls
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
from ne_dynamics.model.separate_drives import refuse_coupled_drives
from ne_dynamics.motion import Waypoints


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
        modes[mode] = _check(choice, dynamics, plants, request, samples)
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


def _check(
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
