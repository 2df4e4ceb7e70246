"""What a load makes of the reading of a wrist sensor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ne_dynamics.control.payload.carrier import Carrier
from ne_dynamics.control.payload.equations import PayloadEquations
from ne_dynamics.control.payload.motion_windows import Window
from ne_dynamics.control.payload.states import MotionStates
from ne_dynamics.control.payload.thresholds import PAYLOAD
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.dynamics.compensation import BASE_MOTION
from ne_dynamics.model.rigid_body import FloatArray


def make_sensor_equations(
    carrier: Carrier, windows: Sequence[Window], states: MotionStates
) -> PayloadEquations:
    """Return the equations of force and moment."""
    to_tip = carrier.first_moments_to_tip
    tool = np.concatenate([[carrier.tool.mass], carrier.tool.first_moment])
    load, rest, right = [], [], []
    for window in windows:
        unit = _load_wrench(carrier.dynamics, window)
        known = unit @ tool
        load.append(unit @ to_tip)
        rest.append(np.column_stack([np.eye(6), known]))
        right.append(np.asarray(window.wrench) - known)
    readings = np.array([window.wrench for window in windows])
    error = np.empty_like(readings)
    for part, least in ((slice(0, 3), PAYLOAD.force_error), (slice(3, 6), PAYLOAD.moment_error)):
        size = np.linalg.norm(readings[:, part], axis=1, keepdims=True)
        error[:, part] = least + PAYLOAD.reading_share * size
    return PayloadEquations(
        np.concatenate(load),
        np.concatenate(rest),
        np.concatenate(right),
        error.ravel(),
        np.repeat(states.repeats_of_arm, 6),
        np.array([*[PAYLOAD.force_bias] * 3, *[PAYLOAD.moment_bias] * 3, PAYLOAD.tool_error]),
        slice(0),
    )


def _load_wrench(dynamics: Dynamics, window: Window) -> FloatArray:
    """Return what unit mass and unit first moments at the tip read there, shape (6, 4).

    With the pose (R, p) of the tip a point x of the load, in the tip's frame, is at p + R x:
    summed over the load, force = m (p'' - g) + R'' (m c), and moment = R (m c) x (p'' - g) but for
    what is of the second order in x.
    """
    step = 0.05  # in which no pose of a slow arm turns far [s]
    before, pose, after = (
        dynamics.forward_kinematics(
            window.position + time * window.velocity + 0.5 * time * time * window.acceleration
        )
        for time in (-step, 0.0, step)
    )
    second = (before - 2.0 * pose + after) / step**2
    rotation = pose[:3, :3]
    upwards = second[:3, 3] - dynamics.gravity
    if window.base is not None:
        # A tilt is an acceleration against the constant gravity.
        upwards = upwards + window.base[BASE_MOTION - 3 :]
    lifted = rotation.T @ upwards
    result = np.zeros((6, 4))
    result[:3, 0] = lifted
    result[:3, 1:] = rotation.T @ second[:3, :3]
    # e_k x lifted, one column each.
    result[3:, 1:] = np.cross(np.eye(3), lifted).T
    return result
