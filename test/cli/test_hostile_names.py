"""Names from a model are data: in what is written they come back, in what is printed they are
text.
"""

from __future__ import annotations

import io
import sys
import unicodedata
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest
import yaml
from long_logs import write_csv

import ne_dynamics as ned
from ne_dynamics.cli.main import main
from ne_dynamics.logs.log import Log
from ne_dynamics.motion import read_trajectory

# What XML 1.0 can hold: no control characters but tab, line end and those from U+0080 on.
XML_NAMES = {
    'comment': '--> <mass value="9"/> <!--',
    'cdata': ']]>',
    'quotes': '"\'`',
    'markup': '<link name="x"/>&amp;&lt;',
    'line end': 'a\nerror: b\r\n\tc',
    'coding': '# -*- coding: utf-7 -*- +AGkAbQBwAG8AcgB0-',
    'terminal': '\x9b31m\x9d0;title\x9c\x7f',
    'backwards': '\u202etnioj\u2066',
    'yes': 'yes',
    'number': '1e3',
    'null': '~',
    'colon': 'a: b',
    'hash': 'a #c',
    'tag': '!!python/object/apply:os.system ["true"]',
    'alias': '*a',
    'anchor': '&a',
    'directive': '%YAML 1.1',
    'document': '---',
    'path': '../../x',
    'formula': '$\\frac{$_^',
    'separators': 'a,b;c',
    'braces': '{0} {name!r} %s ${HOME} $(true)',
    'spaces': 'a\u00a0 \u2003\u2028\u0085b',
    'long': 'n' * 5000,
    'astral': '\U0001f916\U0010ffff',
    'marks': '\ufeffe\u0301',
}
# What only YAML and Python can hold besides.
OTHER_NAMES = {
    'escape': '\x1b]0;owned\x07\x1b[2J',
    'zero': 'a\0b',
    'backspace': 'safe\x08\x08\x08\x08evil',
    'noncharacter': '\ufffe\uffff',
}
ALL_NAMES = XML_NAMES | OTHER_NAMES


def attribute(name):
    """Return a name as a quoted attribute value."""
    return quoteattr(name, {'\n': '&#10;', '\r': '&#13;', '\t': '&#9;'})


def urdf_of(name):
    """Return a URDF whose robot, first joint and first link have a name."""
    inertial = (
        '<inertial><mass value="2.0"/><origin xyz="0 0 0.3"/>'
        '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<!-- a comment -->\n'
        f'<robot name={attribute(name)}>\n'
        f'  <link name="base"/>\n  <link name={attribute(name)}>{inertial}</link>\n'
        f'  <joint name={attribute(name)} type="revolute"><parent link="base"/>'
        f'<child link={attribute(name)}/><axis xyz="0 1 0"/>'
        '<limit lower="-3" upper="3" effort="90" velocity="9"/></joint>\n'
        '</robot>\n'
    )


def dh_of(name):
    """Return a DH file whose robot and joint have a name (JSON is YAML)."""
    joint = {'name': name, 'mass': 2.0, 'center_of_mass': [0.3, 0, 0], 'inertia': [0.1, 0.1, 0.1]}
    base = {'rpy': [1.5, 0, 0]}
    document = {'name': name, 'convention': 'standard', 'base': base, 'joints': [joint]}
    return yaml.safe_dump(document, allow_unicode=False)


@pytest.fixture
def log_file(tmp_path):
    """Return a function that writes the log of a robot that takes 1.3 times its efforts."""

    def write(robot):
        times = np.arange(0.0, 10.0, 0.02)
        position = 0.8 * np.sin(2.0 * times)[:, None]
        velocity, acceleration = 1.6 * np.cos(2.0 * times)[:, None], -4.0 * position
        effort = 1.3 * ned.Dynamics(robot, backend='python').inverse_dynamics(
            position, velocity, acceleration
        )
        log = Log.from_samples(robot.joint_names, times, position, effort)
        return write_csv(tmp_path / 'log.csv', log)

    return write


def assert_terminal_is_safe(text):
    """Want nothing in a text but what prints, and line ends."""
    assert all(line.isprintable() for line in text.split('\n'))


@pytest.mark.kept(1)
@pytest.mark.parametrize('kind', XML_NAMES)
def test_identified_urdf_has_the_same_names(kind, log_file, tmp_path, call, ask):
    name = XML_NAMES[kind]
    model, output = tmp_path / 'model.urdf', tmp_path / 'out.urdf'
    model.write_text(urdf_of(name), encoding='utf-8', newline='')
    robot = ned.load_urdf(model)
    assert robot.joint_names == (name,)
    words = ['identify', '--model', model, log_file(robot), '--spread', '0.5']
    code, out, err = call(*words, '-o', output)
    assert code == 0
    assert_terminal_is_safe(out + err)
    written = ned.load_urdf(output)
    assert (written.name, written.joint_names) == (name, (name,))
    assert [link.name for link in written.links] == ['base', name]
    assert written.bodies[0].inertia.mass != robot.bodies[0].inertia.mass
    names = {'log.csv', 'model.urdf', 'out.extras.yaml', 'out.urdf'}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert written.joints[0].friction != robot.joints[0].friction
    document = ask(*words)
    assert document['joints'][0]['joint'] == document['bodies'][0]['link'] == name


def write_dh(folder, name):
    """Write a DH file, and a trajectory of its joint; return both files."""
    model, plan = folder / 'model.yaml', folder / 'in.yaml'
    model.write_text(dh_of(name), encoding='utf-8')
    points = [
        {'positions': [q], 'velocities': [0.0], 'time_from_start': {'sec': t}}
        for t, q in ((0, 0.0), (1, 0.5))
    ]
    document = {'header': {'frame_id': name}, 'joint_names': [name], 'points': points}
    plan.write_text(yaml.safe_dump(document), encoding='utf-8')
    return model, plan


@pytest.mark.kept(3)
@pytest.mark.parametrize('kind', ALL_NAMES)
def test_what_is_made_of_dh_files_is_safe_to_print_and_has_the_same_names(
    kind, log_file, tmp_path, call
):
    name = ALL_NAMES[kind]
    model, plan = write_dh(tmp_path, name)
    robot, target = ned.load_dh(model), tmp_path / 'out.yaml'
    assert robot.joint_names == (name,)
    log = log_file(robot)
    for words in (
        ['check', model],
        ['identify', '--spread', '0.5', model, log],
        ['evaluate', model, log],
        ['evaluate', model, log, '--json'],
        ['annotate', model, plan, target],
    ):
        code, out, err = call(*words)
        assert code == 0
        assert_terminal_is_safe((out + err).replace('\x7f', ''))  # in JSON
        assert (out == '') == (words[0] == 'annotate')
    written = read_trajectory(str(target))
    assert (written.joint_names, written.frame_id) == ((name,), name)
    text = target.read_text(encoding='utf-8')
    assert yaml.safe_load(text)['joint_names'] == [name]
    assert not any(unicodedata.category(character) == 'Cc' for character in text.replace('\n', ''))


def test_standard_output_is_utf_8(tmp_path, capsys, monkeypatch):
    name = 'Gelenk ü \U0001f916'
    model, plan = write_dh(tmp_path, name)
    stream = io.TextIOWrapper(io.BytesIO(), encoding='latin-1')
    monkeypatch.setattr(sys, 'stdout', stream)
    assert main(['annotate', '--model', str(model), str(plan), '-']) == 0
    stream.flush()
    written = stream.buffer.getvalue().decode('utf-8')
    assert yaml.safe_load(written)['joint_names'] == [name]
    capsys.readouterr()


def test_error_messages_are_safe_to_print(tmp_path, call):
    model = tmp_path / 'model.urdf'
    model.write_text(urdf_of('x\nne_dynamics: all is well\x9b2J'), encoding='utf-8')
    code, _, err = call('identify', '--model', model, 'none.csv', '--tip', 'no')
    assert code == 1
    assert_terminal_is_safe(err)
    assert not any(line.startswith('ne_dynamics: all') for line in err.splitlines())


@pytest.mark.parametrize(
    ('encoding', 'name'), [('unicode_escape', 'a\\u003cb\\n'), ('utf-7', 'arm'), ('rot13', 'arm')]
)
@pytest.mark.filterwarnings('ignore:invalid escape sequence')
def test_encodings_that_xml_does_not_share(encoding, name, log_file, tmp_path, call):
    model, output = tmp_path / 'model.urdf', tmp_path / 'out.urdf'
    text = urdf_of(name)
    log = log_file(ned.load_urdf(text))
    model.write_bytes(text.replace('"utf-8"', f'"{encoding}"').encode())
    code, _, err = call('identify', '--model', model, log, '-o', output)
    assert code == 1
    assert 'error' in err
    assert not output.exists()
