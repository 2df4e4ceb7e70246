"""Every published form on robots from files."""

import functools
from dataclasses import replace

import numpy as np
import pytest
from short_arm import short_arm
from urdf_text import joint_xml, link_xml, robot_xml

import ne_dynamics as ned
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import Transform
from ne_dynamics.papers.forms import FORMULATIONS
from ne_dynamics.papers.studies import equivalence, forms
from ne_dynamics.shipped import shipped_file

GENERAL = set(FORMULATIONS) - {'sasaki_symbolic'}
ARM = 'six_axis_arm.urdf'
PUMAS = ('puma560_standard_dh.yaml', 'puma560_modified_dh.yaml')

UNIT = (1, 1, 1)
TREE = robot_xml(
    *('base', link_xml('a', moments=UNIT), link_xml('b', moments=UNIT)),
    *(joint_xml(f'j_{child}', 'base', child, 'continuous') for child in 'ab'),
)


def run(robot, **given):
    """Return the data of the study on a robot, three calls a form timed, five steps simulated."""
    motion = forms.choose_motion(robot, **given)
    return forms.study(robot, motion, timed_seconds=0.0, simulation_steps=5)


def load(name):
    """Return a shipped robot."""
    return ned.load_model(shipped_file(name), tip_link='tcp' if name == ARM else None)


@functools.cache
def report_of(name):
    """Return the report on a shipped robot, its motion drawn."""
    return run(load(name))


@pytest.mark.parametrize(
    ('name', 'names'),
    [
        *((name, GENERAL) for name in (ARM, *PUMAS)),
        ('six_link_dh.yaml', set(FORMULATIONS)),  # one that even the array form of 000 takes
    ],
)
def test_shipped_robots_run_through_the_forms(name, names):
    """Forms agree with this package, with drives as they are, strobing too; others say why not."""
    data = report_of(name).data
    assert set(data['forms']) == set(FORMULATIONS)
    for form, result in data['forms'].items():
        if form not in names:
            assert any('half-way' in phrase for phrase in result['refused'])
            continue
        assert result['disagreement'] <= 1e-9, form
        assert np.abs(np.array(result['efforts']) - data['efforts']).max() <= 1e-7
        assert result['as_written'][0] > result['skipping_zeros_and_ones'][0] > 0
    assert len(data['strobing']) == 6
    assert max(data['strobing'].values()) <= 1e-8
    if name in PUMAS:
        assert np.abs(data['rotors']).min() > 0.0
        assert np.abs(data['friction']).min() > 0.0


def test_no_number_is_a_disagreement(monkeypatch):
    """A form whose efforts are not a number is not taken for one that agrees."""
    robot = ned.load_urdf(short_arm())
    assert run(robot).disagreements == ()
    form = FORMULATIONS['craig']
    wrong = replace(
        form, compute_efforts=lambda request: [np.nan * x for x in form.compute_efforts(request)]
    )
    monkeypatch.setitem(FORMULATIONS, 'craig', wrong)
    (line,) = run(robot).disagreements
    assert line.startswith('craig: ')
    assert line.endswith('got nan')
    assert any(line.startswith('craig: ') for line in equivalence.study(arms=1).disagreements)


@pytest.mark.parametrize('name', [ARM, *PUMAS])
def test_the_printed_frames_are_those_of_the_robot(name):
    """Base, rows and tool, multiplied by hand, give the pose of the tip."""
    robot, report = load(name), report_of(name)
    frames = report.data['frames']
    q = np.linspace(0.3, -1.2, robot.n)

    def turn_and_shift(axis, angle, length):
        c, s = np.cos(angle), np.sin(angle)
        matrix = np.eye(4)
        i, j = [k for k in range(3) if k != axis]
        matrix[i, i], matrix[i, j], matrix[j, i], matrix[j, j] = c, -s, s, c
        matrix[axis, 3] = length
        return matrix

    pose = np.array(frames['base'])
    for position, link in zip(q, frames['links'], strict=True):
        theta, d = link['theta'], link['d']
        theta, d = (theta, d + position) if link['prismatic'] else (theta + position, d)
        about_z = turn_and_shift(2, theta, d)
        about_x = turn_and_shift(0, link['alpha'], link['a'])
        is_standard = frames['convention'] == 'standard'
        pose = pose @ (about_z @ about_x if is_standard else about_x @ about_z)
    pose = pose @ np.array(frames['tool'])
    expected = ned.Dynamics(robot, backend='python').forward_kinematics(q)
    np.testing.assert_allclose(pose, expected, atol=1e-12)
    assert [link['joint'] for link in frames['links']] == list(robot.joint_names)
    assert frames['fitted'] == (name == ARM)
    (ends,) = [table for table in report.tables if table.title.startswith('Frames before')]
    for row, key in zip(ends.rows, ('base', 'tool'), strict=True):
        x, y, z, *angles = map(float, row[1:])
        found = Transform.from_xyz_rpy((x, y, z), angles).matrix
        np.testing.assert_allclose(found, frames[key], atol=1e-5)


def test_a_tree_is_said_for_every_form_and_its_efforts_are_given():
    """A tree is no failure: its efforts are there, and every form says what it would take."""
    robot = ned.load_urdf(TREE)
    report = run(robot, qd=[0.0, 0.0], qdd=[1.0, 2.0])
    assert report.data['efforts'] == pytest.approx([1.0, 2.0])
    for result in report.data['forms'].values():
        assert 'expected a chain, got a tree' in result['refused'][0]
    assert 'strobing' not in report.data
    assert report.text().count('not for this robot') == len(FORMULATIONS)


def test_a_motion_is_taken_or_drawn_within_limits():
    """What is given is taken, the rest drawn by the seed, positions within the joint limits."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
    motion = forms.choose_motion(robot, 3, qd=[0.0] * 6)
    assert not motion.qd.any()
    assert (motion.q >= [joint.lower for joint in robot.joints]).all()
    assert (motion.q <= [joint.upper for joint in robot.joints]).all()
    assert (motion.q == forms.choose_motion(robot, 3).q).all()
    assert (motion.q != forms.choose_motion(robot, 4).q).any()
    with pytest.raises(InputError, match='qdd: expected 6 numbers, one a joint, got 2'):
        forms.choose_motion(robot, qdd=[1.0, 2.0])
    with pytest.raises(InputError, match='q: expected finite numbers'):
        forms.choose_motion(robot, q=[float('nan')] * 6)
