"""Arms of which logs are simulated, and what is to be found of a fault that is planted in one."""

from __future__ import annotations

from functools import cache

from example_robots import example_robots_folder
from planted_faults import PLANTED_FAULTS, simulate_log
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.shipped import shipped_file

UR = 'ur_description/urdf/{}_robot.urdf'
FILES = {
    'ur3': (UR.format('ur3'), 'tool0'),
    'ur5': (UR.format('ur5'), 'tool0'),
    'ur10': (UR.format('ur10'), 'tool0'),
    'panda': ('panda_description/urdf/panda.urdf', 'panda_link8'),
}
THREE, LIGHT, SIX = 'three axes', 'three axes without a wrist', 'six_axis_arm'
PLANTED = {planted.name: planted for planted in PLANTED_FAULTS}


@cache
def load(name):
    """Return an arm of which logs are simulated."""
    if name in FILES:
        file, tip = FILES[name]
        return ned.load_urdf(example_robots_folder() / file, tip_link=tip)
    if name == LIGHT:
        return ned.load_urdf(short_arm())
    tip = 'forearm' if name == THREE else 'tcp'
    return ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link=tip)


@cache
def simulate(name, seed=7):
    """Return the log of an arm near that one."""
    return simulate_log(load(name), seed)


def require_planted(diagnosis, planted, names, joint):
    """Require a planted fault among the errors, and no error of another cause."""
    assert {fault.code for fault in diagnosis.errors} == {planted.code}
    whose = {names[joint], names[(joint + planted.partners) % len(names)]}
    for fault in diagnosis.errors:
        assert not fault.joints or set(fault.joints) == (whose if planted.by_joint else set(names))
