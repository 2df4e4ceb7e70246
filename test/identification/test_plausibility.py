"""What of an identified model is out of proportion is said, with number and link."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.excitation.solids import read_bounds
from ne_dynamics.identification.plausibility import find_implausible_values
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.shipped import shipped_file

FILE = shipped_file('six_axis_arm.urdf')
SHAPED = """<robot name="two">
  <link name="base"/>
  <joint name="a" type="revolute"><parent link="base"/><child link="one"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="2" effort="50"/>
    <dynamics damping="0.5" friction="1.0"/></joint>
  <link name="one">
    <inertial><mass value="2"/><origin xyz="0.1 0 0"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
    <collision><origin xyz="0.15 0 0"/><geometry><box size="0.3 0.1 0.1"/></geometry></collision>
    <collision><origin xyz="0.3 0 0"/><geometry><sphere radius="0.08"/></geometry></collision>
  </link>
</robot>"""


@pytest.fixture(scope='module')
def arm():
    """Return the shipped arm."""
    return ned.load_urdf(FILE)


@pytest.mark.parametrize(
    ('factor', 'severity'), [(1.4, None), (2.0, 'info'), (0.6, 'info'), (4.0, 'warning')]
)
def test_a_mass_out_of_proportion_is_named(arm, factor, severity):
    """Half as much again is a remark, three times a warning, with both numbers and the link."""
    other = arm.with_links(
        replace(link, inertia=replace(link.inertia, mass=factor * link.inertia.mass))
        for link in arm.links
    )
    findings = [f for f in find_implausible_values(arm, other) if f.code == 'mass-implausible']
    assert len(findings) == (len(arm.bodies) if severity else 0)
    for finding, body in zip(findings, arm.bodies, strict=False):
        assert finding.severity == severity
        assert finding.element == f'link {body.name!r}'
        assert finding.as_json()['link'] == body.name
        assert finding.text.startswith(f'{severity}  link {body.name}  ')
        assert f'{body.inertia.mass:.4g} kg of the given model' in finding.what
        assert finding.amount == factor * body.inertia.mass


@pytest.mark.parametrize(
    ('com', 'is_named'),
    [
        ((0.1, 0.0, 0.0), False),
        ((0.37, 0.0, 0.0), False),  # in the sphere
        ((0.40, 0.0, 0.0), False),  # within a tenth of the diagonal
        ((0.45, 0.0, 0.0), True),
        ((0.2, 0.0, -0.2), True),
    ],
)
def test_a_centre_of_mass_outside_the_shapes_is_named(com, is_named):
    """The shapes of a link are those of its URDF; it is named with the distance [m]."""
    pytest.importorskip('coal', reason='coal is missing')
    robot = ned.load_urdf(SHAPED)
    bounds = read_bounds(robot, SHAPED, 'two.urdf')
    assert list(bounds) == [0]
    (link,) = (link for link in robot.links if link.name == 'one')
    moved = replace(link, inertia=replace(link.inertia, center_of_mass=np.array(com)))
    other = robot.with_links([moved if each is link else each for each in robot.links])
    found = find_implausible_values(robot, other, bounds)
    assert [f.code for f in found] == ['center-implausible'] * is_named
    for finding in found:
        assert (finding.link, finding.severity) == ('one', 'info')
        assert f'{finding.amount:.3g} m outside the box' in finding.what
    assert not find_implausible_values(robot, other)


def test_shapes_that_cannot_be_read_are_none():
    """Meshes that are not there keep nobody from identifying; neither does a DH file."""
    robot = ned.load_urdf(SHAPED)
    text = SHAPED.replace('<sphere radius="0.08"/>', '<mesh filename="package://none/x.stl"/>')
    assert read_bounds(robot, text, 'two.urdf') == {}
    assert read_bounds(robot, 'joints: []', 'two.yaml') == {}


def with_friction(robot, coulomb, viscous=0.5, hysteresis=0.0):
    """Return a robot of one joint with this friction."""
    model = FrictionModel(hysteresis_friction=hysteresis, hysteresis_displacement=0.01)
    (joint,) = robot.joints
    joint = replace(joint, viscous_friction=viscous, coulomb_friction=coulomb, friction=model)
    return replace(robot, joints=(joint,))


@pytest.mark.parametrize(
    ('friction', 'amount', 'reason'),
    [
        ((1.5,), None, ''),
        ((26.0,), 26.0, 'dry friction of 26 N m: more than 50% of the effort limit of 50 N m'),
        ((0.05,), 0.05, 'dry friction of 0.05 N m: expected the order of the 1 N m'),
        ((0.0, 0.5, 1.2), None, ''),  # it turns round gradually
        ((15.0, 0.5, 12.0), 27.0, 'dry friction of 27 N m: more than 50%'),
        ((1.5, 20.0), None, ''),
        ((1.5, 30.0), 61.5, 'friction of 61.5 N m at the velocity limit of 2 rad/s: more than'),
    ],
)
def test_friction_of_the_wrong_order_is_named(friction, amount, reason):
    """Ten times the given one or a tenth, or so much that the motor could hardly overcome it."""
    robot = ned.load_urdf(SHAPED)
    found = find_implausible_values(robot, with_friction(robot, *friction))
    assert [f.code for f in found] == ['friction-implausible'] * bool(reason)
    for finding in found:
        assert finding.joints == ('a',)
        assert finding.amount == pytest.approx(amount)
        assert reason in finding.what


def test_a_joint_without_velocity_limit_is_judged_by_its_dry_friction():
    """Viscous friction alone is of no wrong order then."""
    robot = ned.load_urdf(SHAPED.replace('velocity="2" ', ''))
    assert find_implausible_values(robot, with_friction(robot, 1.5, 300.0)) == []


def test_an_effort_limit_of_zero_is_none():
    """Many files have it where nobody knows the limit: it is no measure of friction."""
    robot = ned.load_urdf(SHAPED.replace('effort="50"', 'effort="0"'))
    fitted = robot.with_joint_values('coulomb_friction', [1.5])
    assert find_implausible_values(robot, fitted) == []


@pytest.mark.parametrize(('com', 'is_named'), [(0.451, False), (0.6, True)])
def test_a_centre_that_the_given_model_has_outside_is_no_news(com, is_named):
    """Files have such centres; what counts is how much farther out the identified one is."""
    pytest.importorskip('coal', reason='coal is missing')
    text = SHAPED.replace('<origin xyz="0.1 0 0"/>', '<origin xyz="0.45 0 0"/>')
    robot = ned.load_urdf(text)
    (link,) = (link for link in robot.links if link.name == 'one')
    moved = replace(link, inertia=replace(link.inertia, center_of_mass=np.array((com, 0.0, 0.0))))
    other = robot.with_links([moved if each is link else each for each in robot.links])
    found = find_implausible_values(robot, other, read_bounds(robot, text, 'two.urdf'))
    assert [f.code for f in found] == ['center-implausible'] * is_named
