"""What gains and their promises come to for two arms, as numbers that can be stored and compared.

The search takes the first gains that suffice on a path that its settings lay down, so a record
shows a setting that was changed, which margins and bounds alone do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from geared_arm import geared_arm
from urdf_text import joint_xml, limit_xml, link_xml, robot_xml

from ne_dynamics.control import VelocitySource
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.gains import GainMode, GainRequest, design_gains
from ne_dynamics.gains.falling import Falls
from ne_dynamics.model.robot import Robot
from ne_dynamics.model.urdf.tree import load_urdf

SLIDING = robot_xml(
    'base',
    link_xml('carriage', 4, moments=(0.1, 0.1, 0.1)),
    link_xml('beam', 4, '0.3 0 0', moments=(0.08, 0.08, 0.08)),
    joint_xml('lift', 'base', 'carriage', 'prismatic', limit_xml(-1, 1, 400, 0)),
    joint_xml('arm', 'carriage', 'beam', inside=limit_xml(-2, 2, 200, 2), axis='0 1 0'),
    name='lift',
)
"""A lift without a limit of its speed, with a turning arm on it."""


def _sliding_arm() -> Robot:
    robot = load_urdf(SLIDING)
    return replace(robot, joints=tuple(replace(one, rotor_inertia=0.5) for one in robot.joints))


DESIGNS: dict[str, tuple[Callable[[], Robot], GainRequest]] = {
    'geared_arm': (
        lambda: geared_arm('forearm'),
        GainRequest(
            poses=4,
            payload=2.0,
            payload_center=(0.02, -0.03, 0.05),
            position_step=2.0 * math.pi / 2**17,
            delay=0.003,
            velocity_source=VelocitySource.DIFFERENTIATED,
        ),
    ),
    'sliding_arm': (
        _sliding_arm,
        GainRequest(
            poses=2,
            stiffness=(2e5, 2e4),
            modes=(GainMode.COMPUTED_TORQUE,),
            phase_margin=30.0,
            gain_margin=1.5,
        ),
    ),
}
"""Arms, and what is asked for."""


def record_gains(name: str) -> dict[str, Any]:
    """Return the design for an arm: gains, margins, and what is predicted."""
    load, request = DESIGNS[name]
    return design_gains(Dynamics(load(), backend='python'), request).as_json()


def record_falls() -> dict[str, float]:
    """Return by how much gains of the arm may be smaller before it falls, where that is found."""
    dynamics = Dynamics(geared_arm(), backend='python')
    falls = Falls(dynamics, GainRequest(), is_compensated=True)
    return {'reduction': falls.search(np.linspace(400.0, 100.0, dynamics.n))}
