"""The command `whatis`: files in, a description and a profile that the node takes out."""

import json
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from bag_files import write_bag
from driver_arms import load_shipped, simulate

from ne_dynamics.cli import main as cli
from ne_dynamics.driver.reading import read_csv, write_csv
from ne_dynamics.driver.recording import DriverRecording
from ne_dynamics.shipped import shipped_file

ARM = str(shipped_file('six_axis_arm.urdf'))
MODEL = ['--model', ARM, '--tip-link', 'forearm']


@pytest.fixture(scope='module')
def robot():
    """Return the first three joints of the shipped arm."""
    return load_shipped('forearm')


@pytest.fixture(scope='module')
def recording(robot):
    """Return some seconds of a simulated arm that reports torques, with its commands."""
    pytest.importorskip('mujoco', reason='mujoco is missing')
    return simulate(robot, 3).record('torque')


def write_recording(folder, recording, **options):
    """Write a recording as a bag."""
    times = recording.stamps + 1e3
    efforts = [[]] * len(times) if recording.effort is None else recording.effort
    names = [list(recording.joint_names)] * len(times)
    states = zip(times, times, names, recording.position, efforts, strict=True)
    commands = recording.commands
    if commands is not None:
        options['commands'] = list(zip(commands.times + 1e3, commands.effort, strict=True))
    write_bag(folder, states, **options)


def test_a_bag_gives_a_profile_that_the_node_takes(recording, tmp_path, ask):
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python')
    from rclpy.context import Context

    from ne_dynamics.ros.node import ComputedTorqueNode
    from ne_dynamics.ros.running.private_domain import private_domain

    write_recording(tmp_path / 'bag', recording)
    profile = tmp_path / 'driver.yaml'
    document = ask('whatis', *MODEL, tmp_path / 'bag', '-o', profile)
    assert document['effort']['value'] == 'torque'
    assert document['command']['delay']['value'] == pytest.approx(0.003, abs=0.002)
    assert document['timing']['rate'] == pytest.approx(500.0, rel=0.01)
    context = Context()
    words = ['--ros-args', '--params-file', str(profile)]
    context.init(args=words, domain_id=private_domain())
    node = ComputedTorqueNode(context=context, namespace='/arm')
    try:
        for name, value in document['parameters'].items():
            assert node.get_parameter(name).value == value, name
    finally:
        node.destroy_node()
        context.try_shutdown()


def test_files_that_do_not_fit_are_refused_in_one_line(
    robot, recording, tmp_path, refused, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    part = DriverRecording.from_samples(
        robot.joint_names, recording.stamps[:9], recording.position[:9]
    )
    write_recording(tmp_path / 'two', part, topics=('/joint_states', '/other'))
    names = ','.join(f'x_{name}.position' for name in robot.joint_names)
    (tmp_path / 'names.csv').write_text(f'time,{names}\n0,1,2,3\n1,1,2,3\n')
    own = ','.join(f'{name}.position' for name in robot.joint_names)
    (tmp_path / 'empty.csv').write_text(f'time,{own}\n')
    (tmp_path / 'none.csv').write_text(f'time|{own.replace(",", "|")}\n0|1|2|3\n')
    (tmp_path / 'one.csv').write_text(f'time,{own}\n0,1,2,3\n')
    for line, expected in (
        ('two', '/joint_states, /other'),
        ('two --topic /other --command-topic /no', 'command topic'),
        ('names.csv', "--rename 'x_*=*'"),
        ('empty.csv', 'expected samples below the header'),
        ('one.csv', 'at least 2 states'),
        ('one.csv --topic /other', '--topic: expected none with a CSV file, got /other'),
        ('none.csv', 'the header is not known: time|joint_1.position|'),
        ('one.csv --live', 'both'),
        ('', 'neither'),
        ('one.csv -o no/file.yaml', 'folder'),
        ('missing.csv', 'cannot read'),
    ):
        # Layouts that are known are told on lines of their own.
        lines = 5 if 'header is not known' in expected else 1
        refused(expected, 'whatis', *MODEL, *line.split(), lines=lines)


@pytest.fixture
def driver(monkeypatch):
    """Return a node in the domain of the command."""
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python')
    from rclpy.context import Context
    from rclpy.node import Node

    from ne_dynamics.ros.running.private_domain import private_domain

    monkeypatch.setenv('ROS_DOMAIN_ID', str(private_domain()))
    context = Context()
    context.init(args=None, domain_id=private_domain())
    node = Node('driver', context=context)
    yield node
    node.destroy_node()
    context.try_shutdown()


def listen(publish, *options):
    """Return the exit code of the command beside a thread that is told when it has ended."""
    ended = threading.Event()
    thread = threading.Thread(target=publish, args=(ended,))
    thread.start()
    try:
        return cli.main(['whatis', *MODEL, '--live', *options])
    finally:
        ended.set()
        thread.join()


def test_live_listens_and_never_speaks(robot, driver, tmp_path, capsys):
    """Every node of rclpy has the events of its parameters, and this one nothing else."""
    from sensor_msgs.msg import JointState

    publisher = driver.create_publisher(JointState, 'joint_states', 10)
    heard = []

    def publish(ended):
        while not ended.is_set():
            message = JointState(name=list(robot.joint_names), position=[0.1] * robot.n)
            message.header.stamp = driver.get_clock().now().to_msg()
            publisher.publish(message)
            if 'ne_dynamics_whatis' in driver.get_node_names():
                listeners = driver.get_publisher_names_and_types_by_node
                heard.append(listeners('ne_dynamics_whatis', '/'))
            time.sleep(0.01)

    log = tmp_path / 'heard.csv'
    assert listen(publish, '--seconds', '2', '--save-log', str(log), '--json') == 0
    document = json.loads(capsys.readouterr().out)
    assert document['effort']['value'] == 'nothing'
    assert document['timing']['states'] == read_csv(log, robot.joint_names).stamps.size
    assert heard
    assert {name for topics in heard for name, _ in topics} <= {'/parameter_events'}


@pytest.mark.parametrize('name', ['a b', '{y}', ''])
def test_a_name_that_is_none_of_a_topic_is_refused(driver, refused, name):
    for option in ('--topic', '--command-topic'):
        message = f'{option}: expected the name of a topic, got {name!r}'
        refused(message, 'whatis', *MODEL, '--live', option, name)


def test_files_that_are_read_are_never_written(robot, recording, tmp_path, refused):
    log = tmp_path / 'log.csv'
    write_csv(log, recording)
    link = tmp_path / 'link.csv'
    link.symlink_to(log)
    before = log.read_bytes()
    own = tmp_path / 'out.yaml'
    for words, expected in (
        (['-o', str(log)], '-o: expected another file than LOG'),
        (['-o', str(link)], '-o: expected another file than LOG'),
        (['--save-log', str(log)], '--save-log: expected another file than LOG'),
        (['-o', ARM], '-o: expected another file than --model'),
        (['-o', str(own), '--save-log', str(own)], '--save-log: expected another file than that'),
        (['-o', str(tmp_path)], 'cannot be written: it is a folder'),
    ):
        refused(expected, 'whatis', *MODEL, log, *words)
    assert log.read_bytes() == before
    assert not own.exists()


@pytest.mark.long
def test_no_profile_is_written_that_no_parameter_makes_right(recording, tmp_path, call):
    effort = np.roll(recording.commands.effort, 1, axis=1)
    commands = replace(recording.commands, effort=effort)
    log, profile = tmp_path / 'log.csv', tmp_path / 'driver.yaml'
    write_csv(log, replace(recording, commands=commands, effort=None))
    profile.write_text('kept')
    code, out, err = call('whatis', *MODEL, log, '-o', profile)
    assert code == 1
    assert 'driver.yaml: not written: no parameter of the node makes this right' in err
    assert 'joint_1 moves by what is called the command of joint_2' in err
    assert 'what is wrong' in out
    assert profile.read_text() == 'kept'
