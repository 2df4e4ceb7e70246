"""A planned motion: what it keeps, by MuJoCo, and what it is worth."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('scipy', reason='scipy is missing')
pytest.importorskip('coal', reason='coal is missing')

from example_robots import example_robots_folder
from excitation_arm import (
    QUICK,
    START,
    make_urdf,
    quick_plan,
    small_arm,
    small_limits,
    small_solids,
)

import ne_dynamics as ned
from ne_dynamics.cli.main import main
from ne_dynamics.errors import ExcitationError, InputError
from ne_dynamics.excitation import FLOOR, ExcitationLimits, KeepOut, Shares, plan_excitation
from ne_dynamics.excitation.clearance import Clearance
from ne_dynamics.excitation.columns import find_columns
from ne_dynamics.excitation.information import Information, SampledMotion, measure_determinant
from ne_dynamics.excitation.search import Search, Task
from ne_dynamics.excitation.text import describe_excitation
from ne_dynamics.excitation.thresholds import SEARCH
from ne_dynamics.excitation.verification import (
    Distances,
    check_limits,
    join_points,
    sample_densely,
)
from ne_dynamics.identification.run import identify
from ne_dynamics.logs.log import Log


@pytest.fixture(scope='module')
def plan():
    """Return a plan for the small arm."""
    return quick_plan()


@pytest.fixture(scope='module')
def dense(plan):
    """Return the planned motion in milliseconds, as the node joins its points."""
    dynamics = small_arm()
    motion = join_points(dynamics.robot, dynamics.joint_names, plan.trajectory.points)
    return sample_densely(dynamics, motion)


@pytest.fixture(scope='module')
def geometry():
    """Return the arm in MuJoCo."""
    pytest.importorskip('mujoco', reason='mujoco is missing')
    from mujoco_distances import Geometry

    return Geometry(make_urdf())


def test_it_begins_and_ends_at_rest_where_the_arm_is(plan):
    trajectory = plan.trajectory
    for place in (0, -1):
        np.testing.assert_array_equal(trajectory.positions[place], START)
        np.testing.assert_array_equal(trajectory.velocities[place], 0.0)
        np.testing.assert_array_equal(trajectory.accelerations[place], 0.0)
    assert plan.duration == trajectory.nanoseconds[-1] * 1e-9 == 8.0


def test_limits_are_kept_by_mujoco(dense, geometry):
    """Positions and velocities by the model, efforts by MuJoCo's inverse dynamics."""
    robot, shares = small_arm().robot, Shares()
    assert (dense.position >= robot.limits('lower')).all()
    assert (dense.position <= robot.limits('upper')).all()
    largest = np.abs(dense.velocity).max(axis=0)
    assert (largest <= shares.velocity * robot.limits('velocity_limit')).all()
    assert (largest > 0.5 * shares.velocity * robot.limits('velocity_limit')).sum() >= 3
    part = slice(None, None, 10)
    efforts = geometry.compute_efforts(
        dense.position[part], dense.velocity[part], dense.acceleration[part]
    )
    np.testing.assert_allclose(efforts, dense.effort[part], atol=1e-6)
    assert (np.abs(efforts) <= shares.effort * robot.limits('effort_limit') + 1e-6).all()


def test_distances_are_kept_by_mujoco(plan, dense, geometry):
    """No two links come nearer than the margin, and none to the floor; some come near."""
    links = ('base', 'turret', 'upper', 'fore', 'hand')
    pairs = [(a, b) for i, a in enumerate(links) for b in links[i + 2 :]]
    nearest = np.inf
    for pose in dense.position[::10]:
        for first, second in pairs:
            nearest = min(nearest, geometry.measure(pose, first, second))
        for link in links[1:]:
            nearest = min(nearest, geometry.measure_plane(pose, link, FLOOR.normal, 0.0))
    assert nearest >= 0.02 - 1e-4
    assert nearest == pytest.approx(min(each.distance for each in plan.nearest), abs=2e-3)


@pytest.fixture(scope='module')
def task(plan):
    """Return what the plan solves."""
    dynamics, limits = small_arm(), small_limits()
    columns = find_columns(dynamics, limits, START)
    return Task(
        dynamics,
        START,
        plan.series,
        limits,
        Clearance(dynamics, small_solids(), [FLOOR], 0.02, START, limits),
        Information(dynamics, columns, limits, 0.01 * limits.full_effort),
        measure_determinant,
    )


def test_a_fit_to_it_is_better_than_one_to_a_random_motion(plan, task, geometry):
    """Efforts of other motions are predicted better, from MuJoCo's efforts with noise."""
    dynamics, limits = task.dynamics, task.limits
    rng, search = np.random.default_rng(11), Search(task, 0.0)
    coefficients = search.make_coefficients(search.draw(np.random.default_rng(0)))
    wrong = dynamics.robot.with_inertial_parameters(
        dynamics.inertial_parameters() * np.repeat([1.3, 0.8, 1.25, 0.7], 10)
    )
    errors = []
    for motion in (plan.coefficients, coefficients):
        times = np.arange(0.0, plan.duration, 0.01)
        q, qd, qdd = plan.series.evaluate(times) @ motion.T
        q = q + START
        efforts = geometry.compute_efforts(q, qd, qdd)
        efforts += 0.01 * limits.full_effort * rng.normal(size=efforts.shape)
        log = Log.from_samples(dynamics.joint_names, times, q, efforts)
        found = identify(wrong, log, spread=1.0).robot
        errors.append(_find_errors(found, dynamics))
    assert errors[0] < 0.7 * errors[1]


def _find_errors(robot, truth):
    """Return how far efforts of motions never seen are off, as a part of them."""
    rng = np.random.default_rng(9)
    motion = rng.uniform(-2.0, 2.0, (3, 300, truth.n))
    motion[0, :, 3] = rng.uniform(0.0, 0.2, 300)
    efforts = [
        each.without_friction().inverse_dynamics(*motion)
        for each in (ned.Dynamics(robot, backend='python'), truth)
    ]
    size = np.sqrt((efforts[1] ** 2).mean(axis=0))
    return float((np.sqrt(((efforts[0] - efforts[1]) ** 2).mean(axis=0)) / size).mean())


def test_the_same_seed_gives_the_same_motion(monkeypatch):
    few = replace(SEARCH, multiplier_steps=2, iterations=5, random_motions=2)
    monkeypatch.setattr('ne_dynamics.excitation.search.SEARCH', few)
    monkeypatch.setattr('ne_dynamics.excitation.plan.SEARCH', few)
    options = {'duration': 4.0, 'harmonics': 1, 'starts': 1, 'keep_out': ()}
    first, second, other = (
        plan_excitation(small_arm(), START, seed=seed, **options) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.coefficients, second.coefficients)
    assert not np.array_equal(first.coefficients, other.coefficients)
    assert any('shapes of the links are not known' in note for note in first.notes)


# ---- the check at the end


def check_changed(plan, what, place, joint, amount):
    """Check a plan of which one number of one point was changed."""
    robot, values = small_arm().robot, getattr(plan.trajectory, what).copy()
    values[place, joint] += amount
    points = replace(plan.trajectory, **{what: values}).points
    check_limits(small_arm(), small_limits(), join_points(robot, robot.joint_names, points))


@pytest.mark.parametrize(
    ('joint', 'amount', 'what', 'message'),
    [
        (0, 0.5, 'velocities', r"joint 'pan': "),
        (1, -0.1, 'positions', r"joint 'lift': "),
        (3, -0.02, 'positions', r"joint 'slide': "),
    ],
)
def test_a_motion_beyond_limits_is_refused(plan, joint, amount, what, message):
    """A point that was changed is found by the check, with joint, kind and time."""
    middle = len(plan.trajectory) // 2
    with pytest.raises(ExcitationError, match=message + r'.* at [34]\.\d+ s, expected at \w+ '):
        check_changed(plan, what, middle, joint, amount)


@pytest.mark.parametrize(
    ('what', 'place', 'message'),
    [
        ('velocities', 0, 'velocity: expected rest at both ends'),
        ('accelerations', -1, 'acceleration: expected rest at both ends'),
        ('positions', -1, 'position: expected the end where the motion begins'),
    ],
)
def test_a_motion_that_does_not_rest_where_it_begins_is_refused(plan, what, place, message):
    """By more than a millionth."""
    check_changed(plan, what, place, 0, 0.7e-6)
    with pytest.raises(ExcitationError, match=message):
        check_changed(plan, what, place, 0, 1.5e-6)


def test_deviations_are_those_of_a_hundred_samples_a_second(plan, dense, task):
    """With independent noise of a hundredth of the effort limits."""
    motion = dense.position, dense.velocity, dense.acceleration
    samples = SampledMotion(*(each[::10] for each in motion))
    everything = 100.0 * plan.duration * task.information.compute(samples)
    expected = task.information.columns.scales * np.sqrt(np.diag(np.linalg.inv(everything)))
    found = [each.deviation for each in plan.parameters]
    np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_contacts_are_refused(plan, dense):
    """A margin that is wider than what was planned, and a plane that came nearer, are found."""
    distances = Distances(small_arm(), dense)
    clearance = Clearance(small_arm(), small_solids(), [FLOOR], 0.02, START, small_limits())
    found = distances.check(clearance)
    assert [each.name for each in found] == [each.name for each in plan.nearest]
    came = {each.name: each.distance for each in found}
    clearance.pairs = tuple(
        replace(pair, margin=came[pair.name] + 1e-3) for pair in clearance.pairs
    )
    with pytest.raises(ExcitationError, match=r'links .* at least .* at \d+\.\d+ s'):
        distances.check(clearance)
    clearance.pairs = ()
    clearance.walls = tuple(
        replace(wall, margin=came[wall.name] + 1e-3) for wall in clearance.walls
    )
    with pytest.raises(ExcitationError, match=r'link \w+ and the keep-out plane .* at \d+\.\d+ s'):
        distances.check(clearance)


# ---- what cannot be


def test_a_joint_without_room_stays(monkeypatch):
    """It is said, the joint does not move, and parameters that need it are not counted."""
    monkeypatch.setattr('ne_dynamics.excitation.search.SEARCH', replace(SEARCH, iterations=10))
    robot = ned.load_urdf(make_urdf(slide_upper=0.0), tip_link='hand')
    dynamics = ned.Dynamics(robot, backend='python')
    start = np.array([0.2, 0.6, -1.0, 0.0])
    plan = plan_excitation(dynamics, start, keep_out=(), **QUICK)
    assert (plan.trajectory.positions[:, 3] == 0.0).all()
    assert any("'slide' has no room to move" in note for note in plan.notes)
    assert not any(each.name.startswith('slide.') for each in plan.parameters)
    assert len(plan.parameters) < len(quick_plan().parameters)
    assert np.isfinite(plan.condition_number)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'duration': np.nan}, 'duration'),
        ({'duration': -1.0}, 'duration'),
        ({'duration': 2.0, 'base_frequency': 0.1}, 'duration .*a period of the base frequency'),
        ({'harmonics': 0}, 'harmonics: expected from 1 to 50'),
        ({'noise_share': 0.0}, 'noise share'),
        ({'margin': np.inf}, 'margin'),
        ({'starts': 0}, 'starts'),
        ({'objective': 'trace'}, "objective: expected one of log-det, condition, got 'trace'"),
        ({'points_per_second': 1e6}, 'points: expected at most 5000'),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        plan_excitation(small_arm(), START, **options)


def test_planes_and_shares_are_checked():
    """A normal of zero, numbers that are not finite, and shares beyond 1 are refused."""
    with pytest.raises(InputError, match='normal other than zero'):
        KeepOut(np.zeros(3), 0.0)
    with pytest.raises(InputError, match='four finite numbers'):
        KeepOut(np.array([0.0, np.nan, 1.0]), 0.0)
    with pytest.raises(InputError, match='velocity share: expected more than 0'):
        Shares(velocity=1.5)
    plane = KeepOut(np.array([0.0, 0.0, 2.0]), -1.0)
    assert plane.distance == -0.5


def test_limits_that_are_missing_are_asked_for():
    """Without velocity limit there is none to keep; a continuous joint turns by half a turn."""
    text = make_urdf().replace(' velocity="2.5"', '', 1)
    robot = ned.load_urdf(text, tip_link='hand')
    dynamics = ned.Dynamics(robot, backend='python')
    with pytest.raises(InputError, match="'pan': velocity limit: expected"):
        ExcitationLimits.of_robot(dynamics, START)
    given = {'velocity_limits': {'pan': 1.0}, 'acceleration_limits': {'pan': 2.0}}
    limits = ExcitationLimits.of_robot(dynamics, START, **given)
    assert limits.velocity[0] == 0.7
    assert limits.acceleration[0] == pytest.approx(1.8)
    turning = make_urdf().replace('"pan" type="revolute"', '"pan" type="continuous"')
    dynamics = ned.Dynamics(ned.load_urdf(turning, tip_link='hand'), backend='python')
    limits = ExcitationLimits.of_robot(dynamics, START)
    assert limits.lower[0] < START[0] < limits.upper[0]
    assert limits.upper[0] - limits.lower[0] <= 2.0 * np.pi
    assert any("'pan' has no end" in note for note in limits.notes)
    with pytest.raises(InputError, match='velocity_limits: expected a joint'):
        ExcitationLimits.of_robot(dynamics, START, velocity_limits={'pun': 1.0})


def test_motions_that_tell_by_condition(monkeypatch):
    """With the condition number as objective it is no worse than with log det, in fewer steps."""
    monkeypatch.setattr('ne_dynamics.excitation.search.SEARCH', replace(SEARCH, iterations=15))
    plan = plan_excitation(
        small_arm(), START, solids=small_solids(), objective='condition', **QUICK
    )
    assert plan.condition_number <= 1.05 * quick_plan().condition_number


@pytest.mark.skipif(
    os.environ.get('NE_DYNAMICS_ORACLES') != 'all', reason='half a minute: NE_DYNAMICS_ORACLES=all'
)
def test_the_command_of_the_document_gives_the_numbers_of_its_table(tmp_path, capsys):
    """Within what other processors make of a search among many optima."""
    document = Path(__file__).resolve().parents[2] / 'doc' / 'excitation.md'
    text = document.read_text(encoding='utf-8')
    options = re.search(r'--tip-link tool0 --start ([-0-9. ]+) -o', text)[1].split()
    row = re.search(r'\| UR5, planned [^|]*\| ([0-9,]+) \|[^|]*\|[^|]*\| (\S+) \|', text)
    robots = example_robots_folder()
    model = str(robots / 'ur_description/urdf/ur5_robot.urdf')
    arguments = ['excite', '--model', model, '--tip-link', 'tool0', '--start', *options]
    arguments += ['--package-path', str(robots.parent), '--json']
    assert main([*arguments, '-o', str(tmp_path / 'motion.yaml')]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report['condition_number'] == pytest.approx(float(row[1].replace(',', '')), rel=0.15)
    assert report['log_determinant'] == pytest.approx(float(row[2]), abs=5.0)


def test_it_is_checked_every_millisecond_and_the_report_lists_five_distances(plan, dense):
    assert np.diff(dense.times).max() <= 0.001 + 1e-9
    crowded = replace(plan, nearest=plan.nearest[:1] * 7)
    lines = describe_excitation(crowded, small_arm().robot, 'motion.yaml')
    assert sum('(to keep: ' in line for line in lines) == 5
