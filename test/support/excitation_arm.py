"""A small arm with shapes of every kind, as a URDF that MuJoCo reads too, and a plan for it."""

from functools import cache

import numpy as np

import ne_dynamics as ned

START = np.array([0.2, 0.6, -1.0, 0.1])


def _link(name, mass, center, moments, shape, origin='0 0 0', rpy='0 0 0'):
    ixx, iyy, izz = moments
    return f"""
  <link name="{name}">
    <inertial><origin xyz="{center}"/><mass value="{mass}"/>
      <inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0.001" ixz="0.0005" iyz="-0.0007"/>
    </inertial>
    <collision><origin xyz="{origin}" rpy="{rpy}"/><geometry>{shape}</geometry></collision>
  </link>"""


def _joint(name, kind, parent, child, xyz, axis, lower, upper, effort, velocity):
    return f"""
  <joint name="{name}" type="{kind}">
    <parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/><axis xyz="{axis}"/>
    <limit lower="{lower}" upper="{upper}" effort="{effort}" velocity="{velocity}"/>
    <dynamics damping="0.4" friction="0.0"/>
  </joint>"""


def make_urdf(*, slide_upper=0.2, elbow_limits=(-2.6, 2.6), elbow_effort=30.0):
    """Return the arm: two hinges, an elbow and a slide; box, cylinder, sphere and box."""
    low, high = elbow_limits
    return (
        '<robot name="small_arm">'
        + _link('base', 5.0, '0 0 0', (0.1, 0.1, 0.1), '<box size="0.2 0.2 0.1"/>', '0 0 0.05')
        + _link(
            'turret',
            3.0,
            '0 0.01 0.1',
            (0.03, 0.03, 0.02),
            '<cylinder radius="0.06" length="0.2"/>',
            '0 0 0.12',
        )
        + _link(
            'upper',
            2.5,
            '0.2 0 0.02',
            (0.01, 0.05, 0.05),
            '<box size="0.36 0.08 0.08"/>',
            '0.2 0 0',
        )
        + _link(
            'fore',
            1.6,
            '0.15 0.01 0',
            (0.006, 0.03, 0.03),
            '<cylinder radius="0.04" length="0.3"/>',
            '0.17 0 0',
            '0 1.5707963 0',
        )
        + _link('hand', 0.7, '0.02 0 0.01', (0.003, 0.004, 0.005), '<sphere radius="0.05"/>')
        + _joint('pan', 'revolute', 'base', 'turret', '0 0 0.1', '0 0 1', -2.8, 2.8, 60, 2.5)
        + _joint('lift', 'revolute', 'turret', 'upper', '0 0 0.3', '0 -1 0', -1.2, 2.2, 60, 2.0)
        + _joint(
            'elbow',
            'revolute',
            'upper',
            'fore',
            '0.42 0 0',
            '0 -1 0',
            low,
            high,
            elbow_effort,
            2.5,
        )
        + _joint(
            'slide', 'prismatic', 'fore', 'hand', '0.36 0 0', '1 0 0', 0.0, slide_upper, 80, 0.5
        )
        + '\n</robot>'
    )


@cache
def small_arm():
    """Return the arm's dynamics."""
    return ned.Dynamics(ned.load_urdf(make_urdf(), tip_link='hand'), backend='python')


@cache
def small_limits():
    """Return the limits of its motions from the start."""
    from ne_dynamics.excitation import ExcitationLimits

    return ExcitationLimits.of_robot(small_arm(), START)


@cache
def small_solids():
    """Return the arm's solids."""
    from ne_dynamics.excitation import load_solids

    return load_solids(make_urdf(), small_arm().robot)


QUICK = {'duration': 8.0, 'harmonics': 3, 'starts': 1}
"""Options of a plan that takes a second or two."""


@cache
def quick_plan():
    """Return a plan for the arm."""
    from ne_dynamics.excitation import plan_excitation

    return plan_excitation(small_arm(), START, solids=small_solids(), **QUICK)
