"""The layouts for PlotJuggler and Foxglove show what the node and the shipped arm have."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import ne_dynamics as ned

ROOT = Path(__file__).resolve().parents[1]
JOINTS = ned.load_urdf(ROOT / 'config/six_axis_arm.urdf').joint_names
FIELDS = {'position', 'velocity', 'effort'}


@pytest.fixture(scope='module')
def topics():
    """Return the topics of the node by their types, as doc/topics.md has them."""
    text = (ROOT / 'doc/topics.md').read_text(encoding='utf-8')
    rows = re.findall(r'^\| (?:in|out) \| `([^`]+)` \| (\S+?)[ ,]', text, flags=re.MULTILINE)
    return {
        re.sub('^(~?/)?', lambda m: {'~/': '/computed_torque/'}.get(m[0], '/'), name): kind
        for name, kind in rows
    }


def test_plotjuggler_layout(topics):
    root = ElementTree.parse(ROOT / 'config/plotjuggler.xml').getroot()
    curves = [element.attrib['name'] for element in root.iter('curve')]
    shown = set()
    for curve in curves:
        topic, joint, field = curve.rsplit('/', 2)
        assert topics[topic] == 'sensor_msgs/JointState', curve
        assert joint in JOINTS
        assert field in FIELDS
        shown.add((topic, joint))
    assert {joint for _, joint in shown} == set(JOINTS)
    assert len(set(curves)) == len(curves)
    for splitter in root.iter('DockSplitter'):
        assert int(splitter.attrib['count']) == len(splitter.findall('DockArea'))
        assert len(splitter.attrib['sizes'].split(';')) == len(splitter.findall('DockArea'))


def panels(layout):
    """Yield the panels in a tree of Foxglove's."""
    if isinstance(layout, str):
        yield layout
        return
    assert layout['direction'] in ('row', 'column')
    yield from panels(layout['first'])
    yield from panels(layout['second'])


def test_foxglove_layout(topics):
    document = json.loads((ROOT / 'config/foxglove.json').read_text(encoding='utf-8'))
    assert sorted(panels(document['layout'])) == sorted(document['configById'])
    for name, panel in document['configById'].items():
        if name.startswith('Diagnostic'):
            assert topics[panel['topicToRender']] == 'diagnostic_msgs/DiagnosticArray'
            continue
        for path in panel['paths']:
            topic, _, field = path['value'].partition('.')
            if topics[topic] == 'std_msgs/Bool':
                assert field == 'data'
                continue
            assert topics[topic] == 'sensor_msgs/JointState'
            name, index = re.fullmatch(r'(\w+)\[(\d)\]', field).groups()
            assert name in FIELDS
            assert path['label'] == JOINTS[int(index)]
