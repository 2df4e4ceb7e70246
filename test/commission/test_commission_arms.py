"""A simulated arm with hidden errors, commissioned over DDS in short form.

Arm, node and run wait for one another: the same commands meet the same states, however busy the
machine. A whole run takes a minute of processor time and more: ``make test-long`` has those. That
an arm with hidden errors follows as one that is known is in ``test_commission_in_process.py``,
what a run does when something fails in ``test_commission_faults.py``.
"""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from small_arm import kept_folder, no_bar, perform_steps, simulated_small_arm, small_arm

pytest.importorskip('rclpy', reason='needs ROS 2 for Python')
pytest.importorskip('mujoco', reason='MuJoCo is not installed')
pytest.importorskip('matplotlib', reason='the report needs matplotlib')
pytest.importorskip('jinja2', reason='the report needs Jinja2')

from ne_dynamics.commission.arm.session import Session
from ne_dynamics.commission.arm_steps import ArmSteps, Motions
from ne_dynamics.commission.offline_steps import IDENTIFIED, PARAMETERS, PROFILE, REPORT
from ne_dynamics.commission.steps import Ending
from ne_dynamics.model.files import load_model
from ne_dynamics.ros.settings.parameter_file import read_parameters
from ne_dynamics.simulation.hidden_errors import EffortMeaning, draw_hidden_errors

SHORT = Motions(listen=1.0, excite=12.0, judge=6.0, test=5.0)


@pytest.mark.long
def test_two_runs_record_the_same(tmp_path):
    """To the last bit, and with the same stamps, whatever happens on the machine meanwhile."""
    subject = small_arm(tmp_path / 'model')
    errors = draw_hidden_errors(subject.robot, 3)
    records = []
    for name in ('first', 'second'):
        folder = kept_folder(tmp_path / name, subject)
        simulated = {**simulated_small_arm(subject, errors, folder.path), 'rate': 125.0}
        with Session(subject.robot, simulated, print) as session:
            work = ArmSteps(subject, folder, session, no_bar, Motions(listen=0.2, excite=1.0))
            outcome = perform_steps(work, session, ('check', 'listen', 'excite'))
            assert (outcome.ending, outcome.reason) == (Ending.COMPLETE, '')
        records.append([folder.file(f'{step}.csv').read_bytes() for step in ('listen', 'excite')])
    assert records[0] == records[1]
    assert records[0][1].count(b'\n') > 180


@pytest.mark.long
def test_what_an_arm_hides_is_found_and_it_follows_better(tmp_path):
    """Meaning, signs, delay and scales; files to read; and less than half the error of before."""
    subject = small_arm(tmp_path / 'model')
    drawn = draw_hidden_errors(subject.robot, 2, EffortMeaning.CURRENT)
    errors = replace(drawn, delay=0.004)  # of whole periods
    folder = kept_folder(tmp_path / 'run', subject)
    simulated = simulated_small_arm(subject, errors, folder.path)
    with Session(subject.robot, simulated, print) as session:
        outcome = perform_steps(ArmSteps(subject, folder, session, no_bar, SHORT), session)
        assert (outcome.ending, outcome.reason) == (Ending.COMPLETE, '')
        assert session.now < 600.0
    efforts = folder.results['identify']['efforts']
    assert efforts['meaning'] == 'current'
    assert tuple(efforts['reversed_joints']) == errors.reversed_joints
    assert abs(folder.results['tremble']['delay'] - errors.delay) <= 1e-3
    scales = [efforts['scales'][name] for name in subject.robot.joint_names]
    planted = [errors.joints[name].effort_per_reading for name in subject.robot.joint_names]
    np.testing.assert_allclose(scales, planted, rtol=0.02)
    before = folder.results['test_before'].get('overall_rms_error', np.inf)
    assert folder.results['test_after']['overall_rms_error'] < 0.5 * before
    _check_files(folder, subject)


def _check_files(folder, subject):
    """What is written can be read by whoever it is for."""
    identified = load_model(str(folder.file(IDENTIFIED)))
    assert identified.joint_names == subject.robot.joint_names
    assert (identified.limits('effort_limit') == subject.robot.limits('effort_limit')).all()
    assert 'coulomb' in folder.file('identified.extras.yaml').read_text() or any(
        joint.coulomb_friction for joint in identified.joints
    )
    for name in (PARAMETERS, PROFILE):
        assert read_parameters(folder.file(name), '/computed_torque')

    class Reader(HTMLParser):
        outside = ()

        def handle_starttag(self, tag, attrs):
            self.outside += tuple(
                value for key, value in attrs if key in ('src', 'href') and value[:1] != '#'
            )

    page = folder.file(REPORT).read_text()
    reader = Reader()
    reader.feed(page)
    assert reader.outside == ()
    assert page.count('<svg') == subject.robot.n
