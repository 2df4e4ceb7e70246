"""What a URDF has no place for, written as YAML and read again."""

from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest
import yaml
from urdf_text import joint_xml, limit_xml, link_xml, robot_xml

import ne_dynamics as ned
from ne_dynamics.identification.writing.write_back import write_urdf
from ne_dynamics.model.extras import read_extras
from ne_dynamics.model.extras_text import format_extras, write_extras
from ne_dynamics.model.friction import FrictionModel


def describe(names, *, more=None):
    """Return a URDF of joints in a row, every second of which slides."""
    links = ['base', *(f'link_{index}' for index in range(len(names)))]
    limit = limit_xml(-1, 1, 9, 2)
    joints = (
        joint_xml(name, parent, child, kind, limit + (more or {}).get(name, ''), axis='0 1 0')
        for name, parent, child, kind in zip(
            names, links, links[1:], cycle(('revolute', 'prismatic')), strict=False
        )
    )
    return robot_xml(*map(link_xml, links), *joints)


def altered(robot, seed):
    """Return a robot with random numbers in all that extras can hold."""
    rng = np.random.default_rng(seed)

    def number():
        return float(rng.uniform(1.0, 10.0) * 10.0 ** rng.integers(-12, 12))

    joints = []
    for joint in robot.joints:
        friction = FrictionModel(
            static_friction=number() if rng.random() < 0.5 else None,
            stribeck_velocity=number(),
            smoothing_velocity=number() if rng.random() < 0.5 else 0.0,
            load_coefficient=number(),
            friction_asymmetry=-number(),
            friction_offset=float(rng.choice([-1.0, 1.0])) * number(),
            square_root_friction=number(),
            cubic_friction=-number(),
            hysteresis_friction=number(),
            hysteresis_displacement=number(),
        )
        joints.append(
            replace(
                joint,
                viscous_friction=float(np.round(number(), 3)),
                coulomb_friction=1.25,
                rotor_inertia=number(),
                gear_ratio=float(rng.choice([-1.0, 1.0])) * number(),
                friction=friction,
            )
        )
    return replace(robot, joints=tuple(joints))


def read_back(urdf_text, extras_text, tmp_path, **options):
    """Return the robot of both files."""
    path = tmp_path / 'row.urdf'
    path.write_text(urdf_text, encoding='utf-8')
    path.with_name('row.extras.yaml').write_text(extras_text, encoding='utf-8')
    return ned.load_urdf(path, **options)


@pytest.mark.parametrize('seed', range(4))
def test_a_robot_comes_back_digit_for_digit(seed, tmp_path):
    """Every number of friction, rotor and gear, of joints that turn or slide, is the same."""
    text = describe(['one', 'two', 'three', 'four'])
    robot = altered(ned.load_urdf(text), seed)
    urdf = write_urdf(text, robot)
    again = read_back(urdf, write_extras(urdf, robot), tmp_path)
    for left, right in zip(again.joints, robot.joints, strict=True):
        assert left.friction == right.friction
        assert (left.rotor_inertia, left.gear_ratio) == (right.rotor_inertia, right.gear_ratio)
        assert left.coulomb_friction == right.coulomb_friction
        assert left.viscous_friction == pytest.approx(right.viscous_friction, rel=1e-9)


WORDS = "yes null ~ 010 1:30 1e3 0x1F 1_000 .inf = - #x *x !x %x @x `x {x} [x it's joints"
HOSTILE = [
    *WORDS.split(),
    *('? a', 'a: b', 'tick "quote" \\n', ' ', ' x ', 'unfinished', '2026-11-22'),
    *('gelenk_\u00fc_\u5173\u8282', '\u2028', '\ufeffx', 'n' * 3000),
]


@pytest.mark.parametrize('name', [*HOSTILE, '<<', 'a\nb', 'a\tb', '\x85', '\U0001f9be', '\ud800'])
def test_names_that_yaml_would_misread_come_back(name):
    text = format_extras({name: {'gear_ratio': -100.0, 'rotor_inertia': 1e-5}})
    from ne_dynamics.model.yaml_text import parse_yaml

    found = read_extras(parse_yaml(text.encode('utf-8'), 'text'))
    assert found.joints == {name: {'gear_ratio': -100.0, 'rotor_inertia': 1e-5}}


def test_joints_that_follow_are_in_the_sum():
    """Rotors of joints that mimic another one are written as one; their friction is the URDF's."""
    more = {
        'two': '<dynamics damping="1" friction="2"/>',
        'four': '<mimic joint="two" multiplier="2"/><dynamics damping="0.5" friction="0.25"/>',
    }
    text = describe(['one', 'two', 'three', 'four'], more=more)
    given = read_extras(
        {
            'joints': {
                'two': {'viscous_friction': 9.0, 'rotor_inertia': 0.25},
                'four': {'coulomb_friction': 3.0, 'rotor_inertia': 0.5, 'gear_ratio': 3},
            }
        }
    )
    robot = ned.load_urdf(text, extras={'joints': dict(given.joints)})
    assert robot.joints[1].rotor_inertia == 0.25 + 4 * 9 * 0.5
    for wanted in (robot.joints[1].rotor_inertia, 7.125):
        joints = list(robot.joints)
        joints[1] = replace(joints[1], rotor_inertia=wanted)
        changed = replace(robot, joints=tuple(joints))
        urdf = write_urdf(text, changed)
        document = yaml.safe_load(write_extras(urdf, changed, given))
        again = ned.load_urdf(urdf, extras=document)
        assert again.joints[1].rotor_inertia == wanted
        assert again.joints[1].viscous_friction == pytest.approx(9.0 + 4 * 0.5, rel=1e-9)
        assert again.joints[1].coulomb_friction == pytest.approx(2.0 + 2 * 3.0, rel=1e-9)
        assert not any('viscous_friction' in row for row in document['joints'].values())


def test_what_is_said_of_joints_that_are_locked_is_kept():
    text = describe(['one', 'two', 'three'])
    given = read_extras(
        {
            'joints': {
                'three': {
                    'viscous_friction': 4.0,
                    'static_friction': 1.0,
                    'stribeck_velocity': 0.1,
                }
            }
        }
    )
    robot = ned.load_urdf(text, tip_link='link_1', extras={'joints': dict(given.joints)})
    assert robot.n == 2
    changed = altered(robot, 1)
    urdf = write_urdf(text, changed)
    document = yaml.safe_load(write_extras(urdf, changed, given))
    assert document['joints']['three'] == dict(given.joints['three'])
