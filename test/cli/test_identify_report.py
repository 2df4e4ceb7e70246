"""``ne_dynamics identify --report``: one page that says what the JSON says."""

import ast
import contextlib
import html
import io
import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest

pytest.importorskip('matplotlib', reason='matplotlib is missing')
pytest.importorskip('jinja2', reason='Jinja2 is missing')

from long_logs import write_csv
from page_reading import PageReader, assert_stands_alone, find_browser
from planted_faults import PLANTED_FAULTS, simulate_log

import ne_dynamics as ned
from ne_dynamics.cli.main import main
from ne_dynamics.model.rigid_body import Inertia

ROOT = Path(__file__).resolve().parents[2]
ARM = ROOT / 'config' / 'six_axis_arm.urdf'
PLANTED = {planted.name: planted for planted in PLANTED_FAULTS}
JOINTS = 2
SHOWN = 3
"""Digits of the figures on a page."""

HOSTILE = '<script>x</script>"\'\u202e' + 'n' * 260
HOSTILE_SHOWN = HOSTILE.replace('\u202e', '\\u202e')


@pytest.fixture(scope='module')
def model(tmp_path_factory):
    """Return the first two joints of the shipped arm."""
    root = ElementTree.parse(ARM).getroot()
    joints = root.findall('joint')[: JOINTS + 1]  # and the mount
    links = {joint.find(key).get('link') for joint in joints for key in ('parent', 'child')}
    for element in list(root):
        is_kept = element in joints or (element.tag == 'link' and element.get('name') in links)
        if not is_kept:
            root.remove(element)
    path = tmp_path_factory.mktemp('model') / 'arm.urdf'
    ElementTree.ElementTree(root).write(path, encoding='utf-8')
    return path


@pytest.fixture(scope='module')
def log(model):
    """Return a short log of an arm near that one."""
    return simulate_log(ned.load_urdf(model), 7, duration=10.0)


@pytest.fixture(scope='module')
def written(tmp_path_factory, model, log):
    """Return the folder of an identification with a report, its page and its JSON."""
    folder = tmp_path_factory.mktemp('report')
    path = write_csv(folder / 'log.csv', log)
    words = ['identify', model, path, '-o', folder / 'out.urdf', '--json']
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main([*map(str, words), '--report', str(folder / 'report.html')]) == 0
    text = (folder / 'report.html').read_text(encoding='utf-8')
    return folder, PageReader(text), json.loads(printed.getvalue())


def show(value):
    """Return a figure of the JSON as the page shows it."""
    return '-' if value is None else f'{value + 0.0:.{SHOWN}g}'


def test_values_of_no_such_arm_are_said_in_text_json_and_page(model, tmp_path, call, ask):
    """A load that the model lacks, and friction of another order: link or joint, and numbers."""
    pytest.importorskip('coal', reason='coal is missing')
    tree = ElementTree.parse(model)
    for shape in tree.getroot().iterfind('link/visual'):
        shape.tag = 'collision'
    for dynamics in tree.getroot().iterfind('joint/dynamics'):
        dynamics.set('friction', '0.2')
    path = tmp_path / 'arm.urdf'
    tree.write(path)
    given = ned.load_urdf(path)
    load = Inertia(14.0, np.array([0.0, 0.5, 0.9]), 0.01 * np.eye(3))
    loaded = given.with_links(
        replace(link, inertia=link.inertia + load) if link.name == 'upper_arm' else link
        for link in given.links
    )
    log = write_csv(tmp_path / 'log.csv', simulate_log(loaded, 7, duration=10.0))
    page = tmp_path / 'report.html'
    findings = ask('identify', path, log, '--force', '--report', page)['findings']
    said = [found for found in findings if found['code'].endswith('-implausible')]
    assert [(found['code'], found['element']) for found in said] == [
        ('mass-implausible', "link 'upper_arm'"),
        ('center-implausible', "link 'upper_arm'"),
        *(('friction-implausible', f'joint {name!r}') for name in given.joint_names),
    ]
    code, text, _ = call('identify', path, log, '--force')
    assert code == 0
    shown = html.unescape(page.read_text(encoding='utf-8'))
    for found in said:
        assert f'{found["element"]}  {found["code"]}  {found["message"]}' in text
        assert f'{found["code"]}: {found["message"]}' in shown


def test_page_has_its_parts_in_order(written):
    _, page, document = written
    assert page.headings == [
        'Verdict, joint by joint',
        'Findings',
        'Efforts over time',
        'Cross-validation by blocks',
        'Friction',
        'Base parameters',
        'Links',
        'Spectra and low-pass',
        'What was used',
        'Options and versions',
        'What not to believe',
    ]
    assert page.verdict.startswith('Identified: better than the given model in')
    assert f'{document["determined_directions"]} of' in page.verdict
    assert len(page.drawings) == 4 * len(document['joints'])
    assert_stands_alone(page)


def test_figures_of_the_joints_are_those_of_the_json(written):
    _, page, document = written
    rows = page.find_table('Root mean squares of the efforts on the part held out')
    for row, joint, floor in zip(rows, document['joints'], document['noise_floor'], strict=True):
        keys = ('measured', 'difference_before', 'difference_after', 'difference_cross_validated')
        assert row[:2] == [joint['joint'], joint['unit']]
        assert row[2:6] == [show(joint[f'rms_{key}']) for key in keys]
        assert row[6] == show(floor)
    found = {tuple(row[:2]): row[2:] for row in page.find_table('Friction and drives')}
    for joint in document['joints']:
        for key, values in joint.items():
            if isinstance(values, dict):
                shown = [show(values[part]) for part in ('before', 'after', 'deviation')]
                assert found.pop((joint['joint'], key.replace('_', ' '))) == shown
    assert found == {}


def test_the_page_has_options_as_given_or_by_default(written):
    folder, page, _ = written
    rows = dict(page.find_table('As given or by default.'))
    assert rows['--output'] == str(folder / 'out.urdf')
    assert rows['--holdout'] == '0.25'
    assert rows['--jobs'] == '1'
    assert not {'--spelled', '--command', '--json', '--report'} & set(rows)


def test_an_output_without_a_name_goes_with_a_report(model, log, tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / 'log.csv', log)
    code, _, err = call('identify', model, 'log.csv', '--report', 'report.html', '-o')
    assert (code, err) == (0, 'output: arm_identified.urdf\n')
    assert PageReader((tmp_path / 'report.html').read_text(encoding='utf-8')).verdict


def test_a_page_of_an_error_names_the_option_as_the_error_does(model, log, tmp_path, refused):
    path, report = write_csv(tmp_path / 'log.csv', log), tmp_path / 'report.html'
    words = [model, path, '--tip-link', 'nope', '--report', report]
    refused('error: --tip-link: expected a link', 'evaluate', *words)
    page = PageReader(report.read_text(encoding='utf-8'))
    assert page.verdict.startswith('Refused: --tip-link: expected a link')


def test_a_refused_log_has_a_page_that_says_why(model, log, tmp_path, call):
    path = write_csv(tmp_path / 'log.csv', PLANTED['effort sign'].plant(log, 1))
    report, output = tmp_path / 'report.html', tmp_path / 'out.urdf'
    code, _, err = call('identify', model, path, '-o', output, '--report', report)
    assert code == 1
    assert '--repair' in err
    page = PageReader(report.read_text(encoding='utf-8'))
    assert page.verdict.startswith('Refused: the log is wrong (wrong-sign)')
    assert any(
        item.startswith('joint_2: error, wrong-sign') and '--sign joint_2' in item
        for item in page.items
    )
    assert len(page.drawings) == 2 * JOINTS
    assert_stands_alone(page)
    assert not output.exists()


@pytest.mark.parametrize(
    ('name', 'message'),
    [
        ('nowhere/report.html', 'cannot be written: there is no folder'),
        ('folder.html', 'cannot be written: it is a folder'),
        ('report.pdf', 'expected a name that ends in .html'),
        ('log.html', 'expected a file of its own'),
    ],
)
def test_an_unusable_place_is_an_error_before_the_fit(name, message, model, tmp_path, refused):
    path = tmp_path / 'log.html'
    path.write_text('time\n', encoding='utf-8')
    (tmp_path / 'folder.html').mkdir()
    refused(message, 'identify', model, path, '--report', tmp_path / name)
    assert path.read_text(encoding='utf-8') == 'time\n'


@pytest.mark.long
def test_the_model_stands_when_the_report_fails(written, model, call, monkeypatch, tmp_path):
    def fail(path, text):
        raise OSError(28, 'No space left on device', str(path))

    monkeypatch.setattr('ne_dynamics.identification.report.pages.write_whole', fail)
    folder, _, _ = written
    output = tmp_path / 'out.urdf'
    words = ('-o', output, '--report', tmp_path / 'report.html', '--spread', '0.5')
    code, out, err = call('identify', model, folder / 'log.csv', *words)
    assert code == 1
    assert f'written: {output}' in out
    assert 'No space left' in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ['out.extras.yaml', 'out.urdf']


def test_hostile_names_are_text(tmp_path, call):
    name = quoteattr(HOSTILE)
    model = tmp_path / '<b onload=x>.urdf'
    model.write_text(
        f'<robot name={name}><link name="base"/><link name={name}><inertial><mass value="2.0"/>'
        '<origin xyz="0 0 0.3"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>'
        f'</inertial></link><joint name={name} type="revolute"><parent link="base"/>'
        f'<child link={name}/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="100" '
        'velocity="3"/></joint></robot>',
        encoding='utf-8',
    )
    robot = ned.load_urdf(model)
    recorded = simulate_log(robot, 3, duration=12.0)
    report = tmp_path / 'report.html'
    path = write_csv(tmp_path / '\'"&.csv', recorded)
    for command in ('identify', 'evaluate'):
        assert call(command, '--model', model, path, '--report', report)[0] == 0
        page = PageReader(report.read_text(encoding='utf-8'))
        assert_stands_alone(page)
        rows = page.find_table('Root mean squares')
        assert [row[0] for row in rows] == [HOSTILE_SHOWN]
        assert '\u202e' not in report.read_text(encoding='utf-8')


def test_every_finding_has_a_remedy():
    calls = [
        node
        for room in ('identification', 'logs', 'driver')
        for path in (ROOT / 'ne_dynamics' / room).rglob('*.py')
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8')))
        if isinstance(node, ast.Call) and getattr(node.func, 'id', '') == 'Finding'
    ]
    assert len(calls) > 20
    for call in calls:
        remedies = [key.value for key in call.keywords if key.arg == 'remedy']
        assert remedies, ast.unparse(call)
        assert ast.unparse(remedies[0]) not in ("''", 'None')


def test_a_browser_shows_it_and_fetches_nothing(written, tmp_path):
    browser = find_browser()
    folder, _, _ = written
    picture, journal = tmp_path / 'page.png', tmp_path / 'net.json'
    page = (folder / 'report.html').as_uri()
    if 'firefox' in browser:
        command = [browser, '--headless', '--screenshot', picture, '--window-size=1200,1600', page]
    else:
        command = [
            browser, '--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars',
            '--disable-background-networking', '--no-first-run', f'--user-data-dir={tmp_path}/u',
            '--window-size=1200,1600', f'--log-net-log={journal}', f'--screenshot={picture}', page,
        ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    from matplotlib.image import imread

    pixels = imread(picture)[..., :3]
    background = pixels[0, 0]
    drawn = (np.abs(pixels - background).max(axis=2) > 0.2).mean(axis=1)
    # Text above, drawings in the lower half.
    assert drawn[: drawn.size // 2].max() > 0.05
    assert drawn[drawn.size // 2 :].max() > 0.05
    if journal.exists():
        urls = re.findall(r'"url":"([^"]+)"', journal.read_text(encoding='utf-8'))
        asked = [url for url in urls if 'report.html' in url or 'example' in url]
        assert not [url for url in asked if not url.startswith('file:')]
