"""What is reported of a robot is what its files are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from loaded_motion import alter, record

import ne_dynamics as ned
from ne_dynamics.identification.evaluation import evaluate
from ne_dynamics.identification.run import identify
from ne_dynamics.identification.writing.model_files import write_model
from ne_dynamics.identification.writing.written_model import make_written_model
from ne_dynamics.shipped import shipped_file

ARM = shipped_file('six_axis_arm.urdf')


def test_both_files_leave_of_a_log_what_the_fit_leaves(given, tmp_path):
    """The files, read by their name, explain the log as the identified robot does."""
    truth = alter(given, 0)
    truth = replace(
        truth,
        joints=tuple(
            replace(joint, rotor_inertia=2e-5, gear_ratio=100.0) for joint in truth.joints
        ),
    )
    log = record(truth, 0)
    result = identify(given, log)
    text = ARM.read_text(encoding='utf-8')
    written = make_written_model(text, result.robot)
    write_model(tmp_path / 'arm.urdf', written.text.encode(), written.extras_text)
    read = ned.load_urdf(tmp_path / 'arm.urdf', tip_link='tcp')
    reported = evaluate(result.robot, log).joints
    for robot in (read, written.load()):
        for left, right in zip(evaluate(robot, log).joints, reported, strict=True):
            assert left.rms_difference == pytest.approx(right.rms_difference, abs=1e-9)
    for left, right in zip(read.joints, result.robot.joints, strict=True):
        assert left.friction == right.friction
        assert left.friction.friction_offset != 0.0
        assert left.reflected_inertia == right.reflected_inertia > 0.0
    without = ned.load_urdf(tmp_path / 'arm.urdf', tip_link='tcp', extras={})
    worse = np.array([joint.rms_difference for joint in evaluate(without, log).joints])
    assert (worse > np.array([joint.rms_difference for joint in reported])).all()
