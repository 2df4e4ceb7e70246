"""The shipped arm with rotors, as real arms have them."""

from dataclasses import replace

from ne_dynamics.model.files import load_model
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.shipped import shipped_file

REFLECTED = (2.5, 2.5, 1.2, 0.25, 0.25, 0.15)
"""Inertia of the rotors at the joints [kg m^2]."""

COULOMB = (6.0, 6.0, 4.0, 1.0, 1.0, 1.0)
"""[N m]"""


def geared_arm(tip_link='tcp'):
    """Return the six-axis arm, up to a link, with rotor inertia and friction."""
    robot = load_model(shipped_file('six_axis_arm.urdf'), tip_link=tip_link)
    joints = (
        replace(joint, rotor_inertia=1e-4 * inertia, gear_ratio=100.0, coulomb_friction=friction)
        for joint, inertia, friction in zip(robot.joints, REFLECTED, COULOMB, strict=False)
    )
    return replace(robot, joints=tuple(joints))


def with_path_friction(robot, hysteresis, displacement, coulomb=0.0):
    """Return a robot with friction that depends on the path, of a share of each effort limit."""

    def change(joint):
        friction = FrictionModel(
            hysteresis_friction=hysteresis * joint.effort_limit,
            hysteresis_displacement=displacement if hysteresis else 0.0,
            smoothing_velocity=0.02,
        )
        constant = coulomb * joint.effort_limit
        return replace(joint, viscous_friction=0.0, coulomb_friction=constant, friction=friction)

    return replace(robot, joints=tuple(map(change, robot.joints)))
