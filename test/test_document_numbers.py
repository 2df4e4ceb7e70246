"""Numbers in README.md and doc/ that a command prints are those that it prints today."""

from __future__ import annotations

import argparse
import math
import platform
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import yaml
from geared_arm import geared_arm
from recorded_robots import TORQUE_PER_CURRENT, load_ur10e, read_ur10e
from stored_record import read_record

import ne_dynamics as ned
from ne_dynamics.cli.main import build_parser, main
from ne_dynamics.codegen.thresholds import CODEGEN
from ne_dynamics.motion.thresholds import MOTION
from ne_dynamics.ros.thresholds import NODE

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / 'README.md').read_text(encoding='utf-8')

LOADED, SAME, OTHER = (
    'ur-20_02_19_14harm50secLoad.csv',
    'ur-20_02_19_14harm50sec.csv',
    'ur-20_02_12-50sec_12harm.csv',
)


def document(name):
    """Return the text of a document of `doc`, its lines joined."""
    return (ROOT / 'doc' / name).read_text(encoding='utf-8')


def joined(text):
    """Return a text whose line ends are spaces: sentences go over lines."""
    return re.sub(r'\s+', ' ', text)


def row(text, beginning):
    """Return the cells of the one row of a table that begins so, without the first."""
    (line,) = (line for line in text.splitlines() if line.startswith(f'| {beginning} |'))
    return [cell.strip() for cell in line.strip('| ').split(' | ')[1:]]


def numbers(cell):
    """Return the numbers in a cell; commas part thousands or numbers."""
    return [float(text) for text in re.findall(r'-?\d+(?:\.\d+)?', cell)]


def counted(path, function='inverse_dynamics', tip_link=None):
    """Return multiplications and additions of a function of a shipped robot."""
    robot = ned.load_model(ROOT / path, tip_link=tip_link)
    return np.array(ned.Dynamics(robot, backend='python').operation_counts()[function])


PUMA = ('config/puma560_standard_dh.yaml',)
ARM = ('config/six_axis_arm.urdf',)


def test_the_table_of_operations_is_what_is_counted():
    tables = [
        re.findall(r'^\| .*\(`(config/[^`]+)`(?:, tip `(\w+)`)?\) \| (.*) \|$', text, re.M)
        for text in (README, document('library.md'))
    ]
    table, again = tables
    assert table == again
    assert [path for path, *_ in table] == [*PUMA, *ARM]
    for path, tip_link, cells in table:
        assert numbers(cells) == counted(path, tip_link=tip_link or None).tolist(), path


def test_the_functions_of_a_firmware_take_what_is_said(capsys):
    text = joined(document('library.md'))
    command, gravity = re.search(
        r'`ne_dynamics (equations \S+ --function gravity_torque --language c)` prints a C99 '
        r'function of (\d+ multiplications and \d+ additions)',
        text,
    ).groups()
    assert main([command.split()[0], str(ROOT / command.split()[1]), *command.split()[2:]]) == 0
    printed = capsys.readouterr().out.splitlines()[0]
    assert gravity.replace(' and', ',') in printed
    more = re.search(
        r'for (\d+) more multiplications and (\d+) more additions than the inverse dynamics of '
        r'this robot \((\d+) and (\d+) more for the six-axis arm',
        text,
    ).groups()
    found = [
        *(counted(*PUMA, 'computed_torque') - counted(*PUMA)),
        *(counted(*ARM, 'computed_torque', 'tcp') - counted(*ARM, tip_link='tcp')),
    ]
    assert [int(number) for number in more] == found


def test_times_are_those_of_the_benchmark():
    python, compiled = re.search(
        r'inverse dynamics of a UR5 takes (\S+ us) a call in place of (\S+ ns)',
        joined(document('library.md')),
    ).groups()
    benchmark = (ROOT / 'benchmark' / 'README.md').read_text(encoding='utf-8')
    for ours in (f'ours, python: {python}', f'ours, compiled: {compiled}'):
        assert re.search(rf'\| UR5 \| {ours} \|', benchmark), ours


def test_ratios_of_commissioned_arms_are_those_of_the_table():
    text = document('commission.md')
    lines = text.partition('| arm | joints | effort is, found |')[2].splitlines()[2:]
    ratios = []
    for line in lines[: lines.index('')]:
        *_, commissioned, true, ratio = (cell.strip() for cell in line.strip('| ').split(' | '))
        ratios.append(float(ratio))
        # Columns are rounded to three digits.
        assert float(commissioned) / float(true) == pytest.approx(ratios[-1], abs=0.0125)
    assert len(ratios) == 10
    span = f'the error is {min(ratios):.2f} to {max(ratios):.2f} of that of the true'
    assert span in text
    assert span in joined(README)


def test_other_seeds_are_within_what_is_said_of_them():
    text = document('commission.md')
    lines = text.partition('| arm | effort is | 31 |')[2].splitlines()[2:]
    table = {
        line.split(' | ')[0].strip('| '): numbers(' '.join(line.strip('| ').split(' | ')[2:]))
        for line in lines[: lines.index('')]
    }
    assert sum(map(len, table.values())) == 40
    missed = [(arm, place) for arm, row in table.items() for place, x in enumerate(row) if x > 1.5]
    assert missed == [('Z1', 3)]
    assert 'Z1 with seed 34 misses it' in text


def test_what_the_observer_is_worth_is_in_its_table():
    off, observed = (numbers(cell)[0] for cell in row(document('observer.md'), 'masses +20 %')[1:])
    said = f'the arm errs by 1/{round(off / observed)} as much in motion'
    assert said in joined(document('modes.md'))


def test_errors_of_an_identified_model_are_in_its_table():
    text = document('identification.md')
    given = numbers(' '.join(row(text, "given model's error")))
    left = numbers(' '.join(row(text, "identified model's error")))
    given, left = f'{min(given):.1f} to {max(given):.1f} N m', f'{max(left):.2f} N m'
    assert f'with errors of {given}, the identified one with {left}' in joined(README)


# ---- what `--help` and the parameter files say


def defaults_of(command):
    """Return the defaults that `--help` says of the options of a subcommand, by their spelling."""
    (commands,) = (
        action
        for action in build_parser(command, shows_all=True)._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    parser = commands.choices[command]
    formatter = parser._get_formatter()
    helps = {
        spelling: formatter._expand_help(action)
        for action in parser._actions
        if action.help
        for spelling in action.option_strings
    }
    said = {option: re.search(r'default: (\d+(?:\.\d+)?)', text) for option, text in helps.items()}
    return {option: float(found[1]) for option, found in said.items() if found}


@pytest.mark.parametrize(
    ('name', 'command', 'count'),
    [
        ('excitation.md', 'excite', 5),
        ('gains.md', 'gains', 2),
        ('identification.md', 'identify', 1),
        ('joint_trajectory_controller.md', 'annotate', 1),
    ],
)
def test_defaults_of_options_are_those_of_the_command(name, command, count):
    found = re.findall(r'`(--[a-z-]+)` \(?(\d+(?:\.\d+)?)', document(name))
    assert len(found) == count
    defaults = defaults_of(command)
    for option, number in found:
        assert defaults[option] == float(number), option


def test_numbers_of_a_leader_are_those_of_its_file():
    text = (ROOT / 'config' / 'leader_arm.params.yaml').read_text(encoding='utf-8')
    (file,) = yaml.safe_load(text).values()
    values = file['ros__parameters']['hand_guiding']
    found = re.findall(r'`hand_guiding\.(\w+)`, (\d+(?:\.\d+)?)', document('leader_arms.md'))
    assert {name for name, _ in found} == values.keys()
    for name, number in found:
        assert np.ravel(values[name]).tolist() == [float(number)], name


def test_velocities_are_as_late_as_is_said():
    """The table of doc/topics.md has the lags of both filters at their defaults and 500 Hz."""
    from ne_dynamics.control.sensors.velocity_source import (
        VelocitySettings,
        VelocitySource,
        velocity_filter,
    )

    for source in (VelocitySource.DIFFERENTIATED, VelocitySource.ESTIMATED):
        lag = velocity_filter(VelocitySettings(source=source), 1.0 / 500.0).lag
        assert row(document('topics.md'), f'`{source.value}`')[-1] == f'{1e3 * lag:.1f} ms'


def test_the_first_point_of_a_plan_may_be_as_far_as_is_said():
    """doc/moveit.md has what the slowest joints of the shipped arm go in 0.02 s."""
    limits = ned.load_urdf(ROOT / ARM[0], tip_link='tcp').limits('velocity_limit')
    assert f'({0.02 * limits.min():.3f} rad for the slowest joints' in document('moveit.md')


def test_the_limits_of_following_are_those_that_are_said():
    from ne_dynamics.control.guards.motion_limits import FollowingLimits

    robot = ned.load_urdf(ROOT / ARM[0], tip_link='tcp')
    limits = FollowingLimits.derived(robot.joints)
    found = [
        f'{values.min():.{digits}f} to {values.max():.{digits}f} {unit}'
        for values, digits, unit in (
            (limits.position, 2, 'rad'),
            (limits.velocity, 1, 'rad/s'),
            (limits.frozen, 3, 'rad'),
        )
    ]
    said = f'On the shipped arm that is {found[0]}, {found[1]} and {found[2]}'
    assert said in joined(document('failure_behaviour.md'))


def test_the_most_that_is_taken_is_what_is_said():
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
    topics, failures = joined(document('topics.md')), joined(document('failure_behaviour.md'))
    assert f'at most {NODE.most_goal_points:,} points' in topics
    assert f'a goal of more than {NODE.most_goal_points:,} points' in failures
    assert f'more than {NODE.most_trajectory_points:,} points' in failures
    for text in (topics, failures):
        assert f'of up to {NODE.small_message // 1024} KiB' in text
        assert f'goals of up to {NODE.few_points} points' in text
    assert f'Up to {MOTION.most_waiting_motions} trajectories may wait' in topics
    assert f'more than {MOTION.most_waiting_motions} trajectories that wait' in failures
    assert f'at most {CODEGEN.largest_cache} MB' in joined(document('library.md'))


# ---- tools and loads


def test_a_tool_is_as_heavy_as_the_table_says():
    from studies import wrench_figures

    text = document('wrench.md')
    for cut, beginning in (
        ('ft_sensor', '`ft_sensor`'),
        ('flange', '`flange`, the sensor is in the reading too, as in [Gazebo](gazebo.md)'),
    ):
        found = [wrench_figures.heaviness(mass, cut) for mass in (0.0, 3.0, 10.0, 20.0)]
        found.append(wrench_figures.heaviest(50.0, cut))
        written = row(text, beginning)
        for number, cell in zip(found, written, strict=True):
            digits = len(cell.removesuffix(' kg').partition('.')[2])
            assert f'{number:.{digits}f}' == cell.removesuffix(' kg')


@pytest.mark.kept(2)
@pytest.mark.parametrize('cut', ['ft_sensor', 'flange'])
@pytest.mark.parametrize('kp', [400, 100])
def test_an_arm_sags_as_the_table_says(cut, kp):
    from studies import wrench_figures

    written = [numbers(cell) for cell in row(document('wrench.md'), f'`{cut}`, Kp = {kp}')]
    without = np.abs(wrench_figures.sag(1.0, 3.0, cut, kp)[3:5])
    assert np.abs(1e3 * without - written[0]).max() < 0.51
    for gain, cells in zip((0.95, 0.9), written[1:], strict=True):
        sag = np.abs(wrench_figures.sag(1.0 - gain, 3.0, cut, kp)[3:5])
        assert np.abs(np.r_[1e3 * sag, 100.0 * sag / without] - cells).max() < 0.51


@pytest.mark.long
def test_gains_of_an_arm_with_rotors_are_as_large_as_is_said():
    from ne_dynamics.gains.design import design_gains
    from ne_dynamics.gains.request import GainRequest

    request = GainRequest(
        rate=500.0, delay=0.002, payload=3.0, uncertainty=0.3, modes=('feedforward_pd',)
    )
    text = design_gains(ned.Dynamics(geared_arm(), backend='python'), request).text()
    printed = {
        line.split()[0]: float(line.split()[1])
        for line in text.splitlines()
        if line.startswith('joint_')
    }
    said = re.search(
        r'kp of `feedforward_pd` is (\d+) N m/rad at joint_1 and (\d+) at joint_4',
        joined(document('gains.md')),
    ).groups()
    assert [printed['joint_1'], printed['joint_4']] == [float(number) for number in said]


def plus_minus(cell):
    """Return a number and its deviation as they are written, each with its digits."""
    number, _, deviation = cell.partition(' +- ')
    return number, deviation


def agrees(number, text):
    """Tell whether a number is one as it is written, up to half of its last digit and a little."""
    digits = len(text.partition('.')[2])
    return abs(number - float(text)) <= 0.51 * 10.0**-digits


@pytest.mark.long
def test_the_load_of_a_recorded_arm_is_as_heavy_as_is_said(tmp_path):
    from ne_dynamics.identification.load.payload_fit import fit_payload

    robot = load_ur10e(tmp_path)
    text = joined(document('identification.md'))
    mass, deviation = re.search(r'(\d\.\d+) \+- (\d\.\d+) kg from two logs', text).groups()
    for without in (SAME, OTHER):
        fit = fit_payload(robot, read_ur10e(robot, LOADED), without=read_ur10e(robot, without))
        assert agrees(fit.inertia.mass, mass)
        assert agrees(fit.deviation[0], deviation)
    factors, mass, deviation = re.search(
        r'the authors of the logs estimate \(([^)]+)\) it is (\d\.\d+) \+- (\d\.\d+) kg', text
    ).groups()
    fit = fit_payload(
        robot,
        read_ur10e(robot, LOADED, numbers(factors)),
        without=read_ur10e(robot, SAME, numbers(factors)),
    )
    assert agrees(fit.inertia.mass, mass)
    assert agrees(fit.deviation[0], deviation)


@pytest.mark.long
def test_gains_of_the_drives_of_a_recorded_arm_are_those_of_the_table(tmp_path):
    from ne_dynamics.identification.load.drive_gains import fit_drive_gains

    robot = load_ur10e(tmp_path)
    one = np.ones(6)
    loaded = read_ur10e(robot, LOADED, one)
    text = document('identification.md')
    fits = {
        'two logs, same motion': read_ur10e(robot, SAME, one),
        'two logs, other motion': read_ur10e(robot, OTHER, one),
        'loaded log alone': None,
    }
    for beginning, without in fits.items():
        fit = fit_drive_gains(robot, loaded, 2.805, without=without)
        for gain, deviation, cell in zip(
            fit.gain, fit.deviation, row(text, beginning), strict=False
        ):
            assert agrees(gain, plus_minus(cell)[0]), (beginning, cell, gain)
            assert agrees(deviation, plus_minus(cell)[1]), (beginning, cell, deviation)
    first = fit_drive_gains(robot, loaded, 2.805, without=fits['two logs, same motion'])
    for beginning in ('published', 'by the authors of the logs'):
        *gains, distance = row(text, beginning)
        assert agrees(first.distance(np.array(gains, dtype=float)), distance), beginning
    published = [float(cell) for cell in row(text, 'published')[:-1]]
    assert published == TORQUE_PER_CURRENT.tolist()


def test_drivers_of_recorded_arms_are_those_that_are_said():
    panda, ur10e = (read_record(f'driver_{name}') for name in ('panda', 'ur10e'))
    told = [joint['effort_meaning']['value'] == 'torque' for joint in panda['joints']]
    factors = [joint['effort_scale']['value'] for joint in ur10e['joints']]
    lags = [1e3 * joint['velocity_lag'] for joint in ur10e['joints']]
    text = joined(document('driver.md'))
    said = re.search(
        r'a Panda at 30 Hz reports torques with gravity \(`(\w+)`, (\d) of 7 joints tell\), and '
        r'(\S+) % of its states repeat .* motor currents with gravity \(`(\w+)`\), of (.*) N m '
        r'each .* (\S+) to (\S+) ms late',
        text,
    ).groups()
    assert said[:2] == (panda['effort']['level'], str(sum(told)))
    assert agrees(100.0 * panda['timing']['repeated'], said[2])
    assert said[3] == ur10e['effort']['level']
    assert re.findall(r'\d+\.\d', said[4]) == [f'{factor:.1f}' for factor in factors]
    assert said[5:] == (f'{min(lags):.1f}', f'{max(lags):.1f}')


# ---- compiled


@pytest.mark.long
def test_the_c_library_is_as_large_as_is_said(tmp_path, capsys):
    gcc = shutil.which('gcc')
    if gcc is None or platform.machine() != 'x86_64':
        pytest.skip('needs GCC on x86-64')
    folder = tmp_path / 'library'
    model = ['--model', str(ROOT / ARM[0]), '--tip-link', 'tcp']
    assert main(['equations', *model, '--all', '--language', 'c', '-o', str(folder)]) == 0
    capsys.readouterr()
    name = 'six_axis_arm_dynamics'
    subprocess.run(
        [gcc, '-O2', '-std=c99', '-fstack-usage', '-c', f'{name}.c'], cwd=folder, check=True
    )
    stacks = {}
    for line in (folder / f'{name}.su').read_text(encoding='utf-8').splitlines():
        place, size, _ = line.split('\t')
        stacks[place.rpartition(':')[2]] = int(size)
    symbols = subprocess.run(
        ['nm', '-S', '-t', 'd', f'{name}.o'],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    sizes = {
        line.split()[3]: int(line.split()[1])
        for line in symbols.splitlines()
        if len(line.split()) == 4 and line.split()[2] == 'T'
    }
    text = joined(document('c_library.md'))
    law = 'six_axis_arm_computed_torque'
    for pattern, found in (
        (r'All functions of this arm are (\d+) kB of machine code', 1e-3 * sum(sizes.values())),
        (r'They take up to (\d+\.\d+) kB of stack', 1e-3 * max(stacks.values())),
        (r'`computed_torque` is (\d+\.\d+) kB of machine code', 1e-3 * sizes[law]),
        (r'machine code and takes (\d+) bytes of stack', stacks[law]),
    ):
        assert math.isclose(float(re.search(pattern, text)[1]), found, rel_tol=0.1), pattern
