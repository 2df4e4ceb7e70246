"""The parameter files of drivers: sound, with a source for each value, and the same everywhere."""

import re
from pathlib import Path

import pytest
import yaml
from test_controller_files import constants

from ne_dynamics.control.sensors.state_effort import StateEffort
from ne_dynamics.errors import ParameterError
from ne_dynamics.ros.settings.drivers import DRIVERS, driver_file, find_changes, find_driver
from ne_dynamics.ros.settings.parameter_file import flattened
from ne_dynamics.ros.settings.parameters import PARAMETERS

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / 'config'
TERMS = ('gravity', 'coriolis', 'inertia', 'friction')

COMPENSATED = {'franka', 'ur_direct_torque'}
"""Drivers of robots that add gravity to the commands."""


def driver_text(name):
    return (CONFIG / driver_file(name)).read_text(encoding='utf-8')


def driver_parameters(name):
    """Return the parameters in the file of a driver, with the dots in their names."""
    content = yaml.safe_load(driver_text(name))
    assert list(content) == ['/**']
    assert list(content['/**']) == ['ros__parameters']
    return dict(flattened(content['/**']['ros__parameters']))


@pytest.mark.parametrize('name', DRIVERS)
def test_parameters_are_possible(name):
    """A robot that adds gravity is sent none; where all of it is left to the node, all is sent."""
    values = driver_parameters(name)
    for key, value in values.items():
        # That one is declared by rclpy.
        if key != 'use_sim_time':
            PARAMETERS.find(key).check(value)
    said = {'state_effort', 'state_timeout', *(f'terms.{term}' for term in TERMS)}
    assert said <= set(values)
    assert values['terms.gravity'] == (name not in COMPENSATED)
    assert values['terms.coriolis']
    assert values['terms.inertia']
    assert values['state_effort'] in [meaning.value for meaning in StateEffort]


@pytest.mark.parametrize('name', DRIVERS)
def test_every_value_has_its_source(name):
    """The comment above each value ends with where it is from; nothing is set without one. The
    head of a file has the command that uses it, and that a file of the user wins.
    """
    head = driver_text(name).partition('/**:')[0]
    assert f'driver:={name}\n' in head
    assert 'comes after this one and wins' in ' '.join(head.replace('#', '').split())
    comment, found = '', 0
    for line in driver_text(name).splitlines():
        if line.lstrip().startswith('#'):
            comment += f' {line.strip(" #")}'
            continue
        if re.search(r'\w: +\S', line):
            found += 1
            assert re.search(r'Source: \S+', comment), f'{line.strip()}: {comment!r}'
        comment = ''
    assert found == len(driver_parameters(name))


@pytest.mark.parametrize('gravcomp', [0.0, 1.0])
def test_mujoco_reports_the_actuators_without_its_own_gravity_compensation(gravcomp):
    """What driver_mujoco.yaml says of qfrc_actuator: the control, of which gravcomp is no part."""
    mujoco = pytest.importorskip('mujoco', reason='mujoco is missing')
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><body gravcomp="{gravcomp}"><joint name="joint" axis="0 1 0"/>
        <geom type="sphere" size="0.1" pos="1 0 0" mass="2"/></body></worldbody>
        <actuator><motor joint="joint"/></actuator></mujoco>"""
    )
    data = mujoco.MjData(model)
    data.ctrl[:] = 3.0
    mujoco.mj_forward(model, data)
    assert data.qfrc_actuator.tolist() == [3.0]
    assert data.qfrc_passive[0] == pytest.approx(-19.62 * gravcomp)


def test_the_topics_of_drivers_are_arguments():
    usual = constants('computed_torque.launch.py')['TOPICS']
    for name in DRIVERS:
        for argument, topic in find_driver(name).items():
            assert usual[argument] != topic
            assert re.fullmatch(r'[a-z_]+(/[a-z_]+)*', topic), 'relative: a namespace moves it'
            assert topic in driver_text(name), 'the file says so'


@pytest.mark.parametrize('name', ['', 'Franka', '../franka'])
def test_an_unknown_driver_is_refused(name):
    """The error names the argument and what was got, and lists the drivers that there are."""
    for function in (find_driver, driver_file):
        with pytest.raises(ParameterError) as refused:
            function(name)
        message = str(refused.value)
        assert message.startswith('driver: expected one of ')
        assert message.endswith(f'got {name!r}')
        assert all(known in message for known in DRIVERS)


def test_what_a_file_changes_of_the_drivers_is_found():
    """Each parameter that both have with another value is named with both values."""
    own = {'terms.gravity': True, 'terms.coriolis': True, 'mode': 'feedforward'}
    changes = find_changes(driver_parameters('franka'), own)
    assert changes == ['terms.gravity: True (driver: False)']
    assert find_changes(driver_parameters('kinova'), own) == []


def test_the_document_has_the_same_drivers():
    text = (ROOT / 'doc' / 'bring_up.md').read_text(encoding='utf-8')
    table = text.partition('| driver | what')[2].partition('\n\n')[0]
    rows = [
        [cell.strip() for cell in line.strip('|').split(' | ')] for line in table.splitlines()[2:]
    ]
    assert [driver.strip('`') for driver, *_ in rows] == list(DRIVERS)
    for driver, _, values_set, topics, source in rows:
        name = driver.strip('`')
        values = driver_parameters(name)
        assert f'`state_effort: {values["state_effort"]}`' in values_set
        for term in TERMS:
            assert (f'`terms.{term}: false`' in values_set) == (not values[f'terms.{term}'])
        assert ('`use_sim_time: true`' in values_set) == values.get('use_sim_time', False)
        assert f'](../config/{driver_file(name)})' in source
        for topic in find_driver(name).values():
            assert f'`{topic}`' in topics
        assert bool(find_driver(name)) == (topics != 'the usual')
