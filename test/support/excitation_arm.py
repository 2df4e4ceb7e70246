"""A small arm with shapes of every kind, as a URDF that MuJoCo reads too, and a plan for it."""

from functools import cache

import numpy as np
from urdf_text import joint_xml, limit_xml, link_xml, robot_xml

import ne_dynamics as ned

START = np.array([0.2, 0.6, -1.0, 0.1])


def _link(name, mass, center, moments, shape, origin='0 0 0', rpy='0 0 0'):
    place = f'<origin xyz="{origin}" rpy="{rpy}"/>'
    return link_xml(
        name,
        mass,
        center,
        moments=moments,
        products=(0.001, 0.0005, -0.0007),
        inside=f'<collision>{place}<geometry>{shape}</geometry></collision>',
    )


def _joint(name, kind, links, xyz, axis, *limits):
    inside = limit_xml(*limits) + '<dynamics damping="0.4" friction="0.0"/>'
    return joint_xml(name, *links, kind, inside, xyz, axis=axis)


def _box(size):
    return f'<box size="{size}"/>'


def _cylinder(radius, length):
    return f'<cylinder radius="{radius}" length="{length}"/>'


def make_urdf(*, slide_upper=0.2, elbow_limits=(-2.6, 2.6), elbow_effort=30.0):
    """Return the arm: two hinges, an elbow and a slide; box, cylinder, sphere and box."""
    elbow, slide = (*elbow_limits, elbow_effort, 2.5), (0, slide_upper, 80, 0.5)
    rod, along = _cylinder(0.04, 0.3), '0 1.5707963 0'
    return robot_xml(
        _link('base', 5.0, '0 0 0', (0.1, 0.1, 0.1), _box('0.2 0.2 0.1'), '0 0 0.05'),
        _link('turret', 3.0, '0 0.01 0.1', (0.03, 0.03, 0.02), _cylinder(0.06, 0.2), '0 0 0.12'),
        _link('upper', 2.5, '0.2 0 0.02', (0.01, 0.05, 0.05), _box('0.36 0.08 0.08'), '0.2 0 0'),
        _link('fore', 1.6, '0.15 0.01 0', (0.006, 0.03, 0.03), rod, '0.17 0 0', along),
        _link('hand', 0.7, '0.02 0 0.01', (0.003, 0.004, 0.005), '<sphere radius="0.05"/>'),
        _joint('pan', 'revolute', ('base', 'turret'), '0 0 0.1', '0 0 1', -2.8, 2.8, 60, 2.5),
        _joint('lift', 'revolute', ('turret', 'upper'), '0 0 0.3', '0 -1 0', -1.2, 2.2, 60, 2.0),
        _joint('elbow', 'revolute', ('upper', 'fore'), '0.42 0 0', '0 -1 0', *elbow),
        _joint('slide', 'prismatic', ('fore', 'hand'), '0.36 0 0', '1 0 0', *slide),
        name='small_arm',
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
