"""What ends a run in a motion ends it safely, and the run goes on from there."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import yaml
from small_arm import kept_folder, no_bar, perform_steps, simulated_small_arm, small_arm

import ne_dynamics as ned
from ne_dynamics.commission.thresholds import ARM

pytest.importorskip('rclpy', reason='needs ROS 2 for Python')
pytest.importorskip('mujoco', reason='MuJoCo is not installed')

import rclpy
from rcl_interfaces.srv import GetParameters
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool

from ne_dynamics.commission.arm.faults import ArmFault, StrayedArm
from ne_dynamics.commission.arm.session import Session
from ne_dynamics.commission.arm.watchdog import Watchdog
from ne_dynamics.commission.arm_steps import ArmSteps, Motions
from ne_dynamics.commission.folder import PROGRESS
from ne_dynamics.commission.motions import plan_sines
from ne_dynamics.commission.node_settings import common_parameters, gentle_parameters
from ne_dynamics.commission.steps import Ending
from ne_dynamics.simulation.hidden_errors import draw_hidden_errors

RATE = 125.0
SHORT = Motions(listen=0.2, excite=1.0)
STEPS = ('check', 'listen', 'excite')
LISTENED = {'rate': RATE, 'reports_velocity': False}
GENTLE = np.full(3, 0.6)
PATIENCE = 90.0


@pytest.fixture(autouse=True, scope='module')
def soon():
    """Let motions begin soon."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(vars(ARM), 'lead', 0.5)
        yield


def start_session(folder, subject):
    """Return the session of an arm with hidden errors."""
    simulated = simulated_small_arm(subject, draw_hidden_errors(subject.robot, 3), folder)
    return Session(subject.robot, {**simulated, 'rate': RATE}, print)


@pytest.fixture(scope='module')
def live(tmp_path_factory):
    """One arm for all tests: each leaves it under brakes, as it must."""
    path = tmp_path_factory.mktemp('commission')
    subject = small_arm(path / 'model')
    with start_session(path / 'run', subject) as session:
        yield subject, session


def bar_that_acts(at, act):
    """Return a bar that does something in the middle of the excitation."""

    @contextlib.contextmanager
    def bar(label, duration):
        acted = []

        def show(reached):
            if label == 'exciting' and reached > at and not acted:
                acted.append(True)
                act()

        yield show

    return bar


def gentle(live, more=None):
    """Return the parameters of a node that moves the arm gently."""
    subject, session = live
    dynamics = ned.Dynamics(subject.robot, backend='python')
    return {
        **common_parameters(subject.parameters(), LISTENED, True),
        **gentle_parameters(dynamics, session.position),
        **(more or {}),
    }


def follow(live, act=lambda: None, tolerance=GENTLE):
    """Follow a motion from where the arm stands, and do something in its middle."""
    subject, session = live
    dynamics = ned.Dynamics(subject.robot, backend='python')
    with bar_that_acts(0.3, act)('exciting', 0.0) as show:
        motion = plan_sines(dynamics, session.position, 1.0, 1)
        return session.follow(motion, tolerance, show)


def follow_with_a_node(live, folder, act=lambda: None, more=None):
    """Do so with a node of its own."""
    with live[1].moving('fault', gentle(live, more), folder / 'fault.node.yaml'):
        return follow(live, act)


def silence(session, is_silent):
    """Let the arm fall silent, or report again."""
    client = session.node.create_client(SetBool, 'simulated_robot/drop')
    session.wait(client.service_is_ready, 'simulated_robot/drop')
    answer = client.call_async(SetBool.Request(data=is_silent))
    session.wait(answer.done, 'simulated_robot/drop')


def require_rest(session):
    """The brakes hold the arm, and no node commands it."""
    arm = session
    arm.spin(0.2)  # what is still on its way
    arm.forget()
    arm.pass_time(arm.now + 0.3)
    record = arm.record().part(slice(10, None))
    assert record.times.size
    assert np.ptp(record.position, axis=0).max() == 0.0
    assert np.isnan(record.command).all()


def interrupt():
    """Interrupt."""
    raise KeyboardInterrupt


def disturbed(method):
    """Return a method during which Ctrl-C is pressed once more."""

    def call():
        os.kill(os.getpid(), signal.SIGINT)
        return method()

    return call


def test_an_arm_that_does_not_start_says_why(tmp_path):
    """The simulated arm cannot read its model: its exit code and last lines are the error."""
    subject = small_arm(tmp_path / 'model')
    simulated = {'model_file': str(tmp_path / 'no.urdf'), 'rate': RATE}
    begun = pytest.raises(ArmFault, match=r'simulated arm ended with exit code 1')
    with begun as caught, Session(subject.robot, simulated, print):
        pytest.fail('it began')
    assert 'no.urdf' in str(caught.value)


def test_ctrl_c_in_a_motion_holds_the_arm_and_the_run_goes_on(tmp_path, live, monkeypatch):
    """However often it is pressed: while the node is to hold, and while brakes are engaged."""
    subject, session = live
    monkeypatch.setattr(session, 'hold', disturbed(session.hold))
    monkeypatch.setattr(session, 'engage', disturbed(session.engage))
    folder = kept_folder(tmp_path, subject)
    work = ArmSteps(subject, folder, session, bar_that_acts(0.3, interrupt), SHORT)
    outcome = perform_steps(work, session, STEPS)
    monkeypatch.undo()
    assert (outcome.ending, outcome.step) == (Ending.INTERRUPTED, 'excite')
    require_rest(session)
    assert not folder.file('excite.csv').exists()
    again = ArmSteps(subject, kept_folder(tmp_path, subject), session, no_bar, SHORT)
    assert perform_steps(again, session, STEPS).ending is Ending.COMPLETE
    assert folder.file('excite.csv').exists()
    require_rest(session)


def test_an_arm_that_stops_reporting_in_a_motion_ends_the_run_safely(tmp_path, live, monkeypatch):
    subject, session = live

    def fall_silent():
        silence(session, True)
        monkeypatch.setattr(session, '_longest_silence', 3.0)

    folder = kept_folder(tmp_path, subject)
    work = ArmSteps(subject, folder, session, bar_that_acts(0.3, fall_silent), SHORT)
    outcome = perform_steps(work, session, STEPS)
    monkeypatch.undo()
    assert (outcome.ending, outcome.step) == (Ending.FAILED, 'excite')
    assert 'joint_states' in outcome.reason
    progress = yaml.safe_load((tmp_path / PROGRESS).read_text())
    assert (progress['state'], progress['next_step']) == ('stopped', 'excite')
    assert progress['reason'] == outcome.reason
    silence(session, False)
    require_rest(session)


def test_a_node_that_ends_in_a_motion_leaves_the_arm_to_its_brakes(tmp_path, live):
    """Its last words are told."""
    _, session = live
    with pytest.raises(ArmFault, match=r'(?s)the node ended with exit code -9: .*active'):
        follow_with_a_node(live, tmp_path, lambda: session._controller.kill())
    require_rest(session)


def test_a_fault_that_the_node_reports_ends_the_motion(tmp_path, live):
    """By its diagnostics."""
    strict = {'following_error.position': [1e-4]}
    with pytest.raises(ArmFault, match='the node reports: following error'):
        follow_with_a_node(live, tmp_path, more=strict)
    require_rest(live[1])


@contextlib.contextmanager
def commander(session, name):
    """Let a node be there that could command the arm."""
    node = rclpy.create_node(name, context=session.node.context)
    node.create_publisher(Float64MultiArray, 'effort_controller/commands', 10)
    try:
        yield
    finally:
        node.destroy_node()


def test_no_node_is_started_beside_another_one(tmp_path, live):
    """As of a run that was killed, and holds the arm."""
    refused = pytest.raises(ArmFault, match=r'nobody who commands the arm, got /left_over: end it')
    with commander(live[1], 'left_over'), refused:
        follow_with_a_node(live, tmp_path)
    require_rest(live[1])


def test_a_node_that_comes_to_command_the_arm_ends_the_motion(tmp_path, live, monkeypatch):
    """As of a second run, and it is not taken for a node of this one afterwards."""
    monkeypatch.setitem(vars(ARM), 'others_period', 0.0)
    with contextlib.ExitStack() as stack:

        def come():
            stack.enter_context(commander(live[1], 'second'))

        with pytest.raises(ArmFault, match=r'somebody else commands the arm: /second$'):
            follow_with_a_node(live, tmp_path, come)
        with pytest.raises(ArmFault, match=r'expected nobody who commands the arm, got /second'):
            follow_with_a_node(live, tmp_path)
    require_rest(live[1])


class Delivery:
    """A publisher of motions before which something happens, or nothing is published."""

    def __init__(self, arm, before):
        self._arm, self._before, self._publish = arm, before, arm._publisher.publish
        self.get_subscription_count = arm._publisher.get_subscription_count

    def publish(self, message):
        """Publish, after what happens before it."""
        if not message.points or self._before():
            self._publish(message)


@pytest.fixture(scope='module')
def node(live, tmp_path_factory):
    """One node that holds the arm for the tests from here on: they come after those of `live`."""
    folder = tmp_path_factory.mktemp('held')
    with live[1].moving('held', gentle(live), folder / 'held.node.yaml'):
        yield live
    require_rest(live[1])


def test_an_arm_that_goes_astray_is_carried_without_feedback_until_its_brakes(
    live, tmp_path, monkeypatch
):
    """Feedback would drive it on, where efforts have the wrong sign."""
    session = live[1]
    arm, engage, modes = session, session.engage, []

    def look_and_engage():
        client = arm.node.create_client(GetParameters, 'computed_torque/get_parameters')
        arm.wait(client.service_is_ready, 'parameters')
        answer = client.call_async(GetParameters.Request(names=['mode']))
        arm.wait(answer.done, 'mode')
        modes.append(answer.result().values[0].string_value)
        return engage()

    monkeypatch.setattr(session, 'engage', look_and_engage)
    dynamics = ned.Dynamics(live[0].robot, backend='python')
    motion = plan_sines(dynamics, arm.position, 1.0, 1)

    def go_astray():
        with session.moving('astray', gentle(live), tmp_path / 'astray.node.yaml'):
            session.follow(motion, GENTLE, None, np.full(3, -1.0))

    with pytest.raises(StrayedArm, match='goes away from where it is wanted'):
        go_astray()
    assert modes == ['gravity_compensation']


@pytest.fixture
def held(node):
    """The arm, held by a node; and held again at the end, as a run does."""
    yield node
    node[1].hold()


def test_a_motion_that_leaves_its_tolerance_is_given_up(held):
    """The joint is named."""
    with pytest.raises(ArmFault, match='off the motion'):
        follow(held, tolerance=np.full(3, 0.005))


def test_a_motion_that_is_sent_too_late_is_no_jump(held, monkeypatch):
    """A process that is stopped before it sends has the node hold, and ends the run."""
    arm = held[1]

    def stopped():
        arm.pass_time(arm.now + 0.8)
        return True

    monkeypatch.setattr(arm, '_publisher', Delivery(arm, stopped))
    with pytest.raises(ArmFault, match=r'sent 0\.3 s after the state with which it was to'):
        follow(held)
    monkeypatch.undo()
    arm.hold()
    desired = arm.record().desired
    desired = desired[np.isfinite(desired).all(axis=1)]
    assert len(desired) > 100
    assert np.abs(np.diff(desired, axis=0)).max() < 1e-3


def test_a_motion_that_the_node_does_not_get_is_noticed_at_its_begin(held, monkeypatch):
    """Not at its end: by then another one could be on the way."""
    arm = held[1]
    monkeypatch.setattr(arm, '_publisher', Delivery(arm, lambda: False))
    with pytest.raises(ArmFault, match=r'beside the planned motion at 0\.\d+ s') as raised:
        follow(held)
    monkeypatch.undo()
    assert 'refused it, or got it too late' in str(raised.value)


def test_an_arm_that_is_there_is_held_on_when_its_run_is_killed(held, capfd):
    """The watchdog lets the node stop and hold, and ends it after a time."""
    arm = held[1]
    process = subprocess.Popen(['sleep', '100'])

    def kill_run():
        watchdog = Watchdog(arm.node.context.get_domain_id(), '', False, held_for=0.5)
        watchdog.guard([process.pid])
        watchdog.child.stdin.close()
        arm.wait(lambda: watchdog.child.poll() is not None, 'the end', PATIENCE)

    with pytest.raises(ArmFault, match='beside the planned motion'):
        follow(held, kill_run)
    assert process.wait(PATIENCE) == -signal.SIGINT
    told = capfd.readouterr().err
    assert 'the node stops along its motion, and holds' in told
    assert f'kill -INT {process.pid}' in told


def runs(number):
    """Return whether there is a process, and more than its exit code."""
    try:
        stat = Path(f'/proc/{number}/stat').read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rsplit(')', 1)[1].split()[0] != 'Z'


KILLED = """
    import os, pathlib, signal, sys
    sys.path[:0] = sys.argv[2:]
    import test_commission_faults as faults
    folder = pathlib.Path(sys.argv[1])
    subject = faults.small_arm(folder)
    with faults.start_session(folder, subject) as session:

        def die():
            print(*(item.child.pid for item in session._processes.all), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

        faults.follow_with_a_node((subject, session), folder, die)
"""


@pytest.mark.long
def test_a_run_that_is_killed_leaves_no_process_and_the_arm_under_brakes(tmp_path):
    """Within a short time."""
    folders = [os.path.dirname(__file__), os.path.dirname(sys.modules['small_arm'].__file__)]
    run = subprocess.run(
        [sys.executable, '-c', textwrap.dedent(KILLED), str(tmp_path), *folders],
        capture_output=True,
        text=True,
        check=False,
        timeout=4.0 * PATIENCE,
    )
    # Its output ends when the watchdog has ended, too.
    assert run.returncode == -signal.SIGKILL, run.stderr
    told = [line for line in run.stderr.splitlines() if line.startswith('commission was killed')]
    assert [line.split(': ', 1)[1] for line in told] == [
        'the node stops along its motion, and holds',
        'brakes engaged',
        'its processes have ended',
    ]
    numbers = [int(word) for word in run.stdout.split()]
    assert len(numbers) == 2
    for number in numbers:
        assert not runs(number)
