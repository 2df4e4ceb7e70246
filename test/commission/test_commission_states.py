"""What a run hears of an arm: states of other joints, and states that cannot be used."""

import os
import signal
from types import SimpleNamespace

import pytest

from ne_dynamics.commission.thresholds import ARM

pytest.importorskip('rclpy', reason='needs ROS 2 for Python')

import rclpy
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from ne_dynamics.commission.arm.faults import ArmFault, LostArm
from ne_dynamics.commission.arm.session import Session
from ne_dynamics.commission.arm.signal_masking import interrupted_in_order
from ne_dynamics.commission.fits.reading import read_stamps
from ne_dynamics.ros.running.private_domain import private_domain
from ne_dynamics.simulation.demo.ros_process import RosProcesses

NAMES = ('turn', 'lift')


@pytest.fixture(scope='module')
def context():
    """ROS, on a domain of its own."""
    context = rclpy.Context()
    options = SignalHandlerOptions.NO
    rclpy.init(
        args=[], context=context, domain_id=private_domain(), signal_handler_options=options
    )
    yield context
    context.try_shutdown()


@pytest.fixture
def arm(context, monkeypatch):
    """An arm that is soon taken for silent."""
    monkeypatch.setitem(vars(ARM), 'silence', 0.3)
    arm = Session(SimpleNamespace(joint_names=NAMES), None, lambda sentence: True)
    arm.connect(context, '', RosProcesses(context.get_domain_id()), None)
    yield arm
    arm.disconnect()


def state(milliseconds, names=NAMES, position=(0.1, 0.2), velocity=()):
    """Return a state."""
    message = JointState(name=list(names), position=position, velocity=velocity)
    message.header.stamp.nanosec = 1_000_000 * milliseconds
    return message


def hear(arm, *messages):
    """Let the arm hear messages."""
    for message in messages:
        arm._on_state(message)


UNUSABLE = {
    'a joint is missing': (state(9, ('turn', 'grip')), r"name: \['lift'\] missing"),
    'not finite': (state(9, position=(0.1, float('nan'))), "position: joint 'lift'.* got nan"),
    'short': (state(9, position=(0.1,)), 'position: got 1 values for 2 names'),
    'twice': (state(9, ('turn', 'turn'), (0.0, 1.0)), "name: joint 'turn' is there twice"),
    'no stamp': (state(0), 'header.stamp: expected the time of the state, got 0 s'),
}


@pytest.mark.parametrize('name', UNUSABLE)
def test_an_arm_of_which_no_state_can_be_used_says_why(arm, name):
    """It is no arm of which nothing is heard."""
    message, told = UNUSABLE[name]
    hear(arm, message)
    with pytest.raises(
        ArmFault, match=rf'nothing within 0\.2 s; what came cannot be used: {told}'
    ):
        arm.wait_for_state(0.2)


def test_an_arm_is_silent_though_a_gripper_reports(arm, monkeypatch):
    """States of other joints, and stamps that stand still, are no states of the arm."""
    hear(arm, state(5))
    turn = arm._turn

    def others(longest=None):
        hear(arm, state(9, ('grip',), (0.0,)), state(5))
        turn(0.01)

    monkeypatch.setattr(arm, '_turn', others)
    with pytest.raises(ArmFault, match=r'no joint_states for 0\.3 s; .* later than 0\.005 s, got'):
        arm.pass_time(1.0)


def test_a_state_that_cannot_be_used_is_passed_over(arm):
    """Among good ones, in any order of the joints; the rate is that of the good ones."""
    assert arm.record().position.shape == (0, 2)
    hear(arm, state(5), *(message for message, _ in UNUSABLE.values()))
    hear(arm, state(15, ('lift', 'grip', 'turn'), (0.4, 9.0, 0.3)), state(16, ('grip',), (0.0,)))
    hear(arm, state(25))
    assert arm.record().position.tolist() == [[0.1, 0.2], [0.3, 0.4], [0.1, 0.2]]
    assert read_stamps(arm.receptions)['rate'] == pytest.approx(100.0)
    arm.forget()
    assert (arm.receptions, arm.record().times.size) == ([], 1)


def test_ctrl_c_does_not_cut_a_call_of_rclpy(arm, monkeypatch):
    """In the middle of one it would be an error of that call, and no Ctrl-C."""
    spin_once, done = arm._executor.spin_once, []

    def press(longest=None):
        os.kill(os.getpid(), signal.SIGINT)
        spin_once(longest)
        done.append(True)

    monkeypatch.setattr(arm._executor, 'spin_once', press)
    with pytest.raises(KeyboardInterrupt), interrupted_in_order():
        arm.spin(10.0)
    assert len(done) == 1


@pytest.mark.parametrize(
    ('fault', 'is_lost'),
    [('joint_states gap: 0.4 s', True), ('following error: joint lift', False)],
)
def test_faults_of_the_states_are_told_from_those_of_a_motion(arm, fault, is_lost):
    """A motion that is given up may be a result; states that fail are none."""
    arm.watch()
    arm._fault, arm._longest_silence = fault, float('inf')
    with pytest.raises(ArmFault, match=f'the node reports: {fault}') as raised:
        arm._look()
    assert isinstance(raised.value, LostArm) == is_lost


def test_a_node_that_is_being_started_is_known_when_ctrl_c_comes(arm, monkeypatch):
    """To whoever ends it, and to the watchdog."""
    guarded = []
    node = SimpleNamespace(is_alive=False, child=SimpleNamespace(pid=7), name='node')

    def start(*_):
        os.kill(os.getpid(), signal.SIGINT)
        return node

    monkeypatch.setattr(arm, '_processes', SimpleNamespace(all=[node], start=start))
    monkeypatch.setattr(arm, 'guard_processes', lambda: guarded.append(True))
    with pytest.raises(KeyboardInterrupt), interrupted_in_order():
        arm.start_node('node', {})
    assert arm._controller is node
    assert guarded == [True]


def test_two_runs_do_not_commission_one_arm(arm):
    """The node of the other would move it between the motions of this one."""
    arm.require_only_run()
    other = rclpy.create_node('commission', context=arm.node.context)
    try:
        arm.wait(lambda: arm.node.get_node_names().count('commission') > 1, 'the other run')
        with pytest.raises(LostArm, match='/commission: expected no other run on this arm, got 1'):
            arm.require_only_run()
    finally:
        other.destroy_node()
