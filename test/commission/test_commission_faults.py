"""What ends a run in a motion ends it safely, and the run goes on from there."""

import contextlib

import numpy as np
import pytest
import yaml
from small_arm import kept_folder, no_bar, perform_steps, simulated_small_arm, small_arm

pytest.importorskip('rclpy', reason='needs ROS 2 for Python')
pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from std_srvs.srv import SetBool

from ne_dynamics.commission.folder import PROGRESS
from ne_dynamics.commission.session import Session
from ne_dynamics.commission.steps import Ending
from ne_dynamics.commission.work import Motions, Work
from ne_dynamics.simulation.hidden_errors import draw_hidden_errors

SHORT = Motions(listen=0.5, excite=6.0)
STEPS = ('check', 'listen', 'excite')


@pytest.fixture(scope='module')
def live(tmp_path_factory):
    """One arm for all tests: each leaves it under brakes, as it must."""
    path = tmp_path_factory.mktemp('commission')
    subject = small_arm(path / 'model')
    simulated = simulated_small_arm(subject, draw_hidden_errors(subject.robot, 3), path / 'run')
    with Session(subject.robot, simulated, print) as session:
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


def silence(session, is_silent):
    """Let the arm fall silent, or report again."""
    client = session.arm.node.create_client(SetBool, 'simulated_robot/drop')
    session.arm.wait(client.service_is_ready, 'simulated_robot/drop')
    answer = client.call_async(SetBool.Request(data=is_silent))
    session.arm.wait(answer.done, 'simulated_robot/drop')


def require_rest(session):
    """The brakes hold the arm, and no node commands it."""
    arm = session.arm
    arm.spin(0.5)  # what is still on its way
    arm.forget()
    arm.pass_time(arm.now + 0.3)
    record = arm.record().part(slice(10, None))
    assert record.times.size
    assert np.ptp(record.position, axis=0).max() == 0.0
    assert np.isnan(record.command).all()


def interrupt():
    """Interrupt."""
    raise KeyboardInterrupt


def test_ctrl_c_in_a_motion_holds_the_arm_and_the_run_goes_on(tmp_path, live):
    """Ctrl c in a motion holds the arm and the run goes on."""
    subject, session = live
    folder = kept_folder(tmp_path, subject)
    work = Work(subject, folder, session, bar_that_acts(1.0, interrupt), SHORT)
    outcome = perform_steps(work, session, STEPS)
    assert (outcome.ending, outcome.step) == (Ending.INTERRUPTED, 'excite')
    require_rest(session)
    assert not folder.file('excite.csv').exists()
    again = Work(subject, kept_folder(tmp_path, subject), session, no_bar, SHORT)
    assert perform_steps(again, session, STEPS).ending is Ending.COMPLETE
    assert folder.file('excite.csv').exists()
    require_rest(session)


def test_an_arm_that_stops_reporting_in_a_motion_ends_the_run_safely(tmp_path, live):
    """An arm that stops reporting in a motion ends the run safely."""
    subject, session = live
    folder = kept_folder(tmp_path, subject)
    bar = bar_that_acts(1.5, lambda: silence(session, True))
    outcome = perform_steps(Work(subject, folder, session, bar, SHORT), session, STEPS)
    assert (outcome.ending, outcome.step) == (Ending.FAILED, 'excite')
    assert 'joint_states' in outcome.reason
    progress = yaml.safe_load((tmp_path / PROGRESS).read_text())
    assert (progress['state'], progress['next_step']) == ('stopped', 'excite')
    assert progress['reason'] == outcome.reason
    silence(session, False)
    require_rest(session)


def test_a_motion_that_leaves_its_tolerance_is_given_up(tmp_path, live, monkeypatch):
    """A motion that leaves its tolerance is given up."""
    subject, session = live
    monkeypatch.setattr('ne_dynamics.commission.work.GENTLE_TOLERANCE', 0.005)
    folder = kept_folder(tmp_path, subject)
    outcome = perform_steps(Work(subject, folder, session, no_bar, SHORT), session, STEPS)
    assert (outcome.ending, outcome.step) == (Ending.FAILED, 'excite')
    assert 'off the motion' in outcome.reason
    require_rest(session)
