"""Random trajectories, good and bad, for the annotator: each has an answer, or is dropped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ne_dynamics.ros.thresholds import NODE

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from fuzz_messages import MessageSource, plan

SEED = 20240607
COUNT = 60


@pytest.fixture
def site(action: None, request: pytest.FixtureRequest) -> Iterator[Any]:
    from annotator_bench import AnnotatorBench

    chosen = plan(SEED, getattr(request, 'param', 0))
    parameters = {'model_file': None, 'tip_link': None, **chosen.case.parameters}
    site = AnnotatorBench(**parameters, controller='/nobody')
    site.record_drops()
    site.source = MessageSource(chosen, with_bytes=True)
    yield site
    site.close()


def check(message: Any) -> None:
    """Check that an answer is complete, finite and in order."""
    assert 0 < len(message.points) <= NODE.most_annotated_points
    before = -1
    for point in message.points:
        at = point.time_from_start.sec * 10**9 + point.time_from_start.nanosec
        assert at > before
        before = at
        for key in ('positions', 'velocities', 'accelerations', 'effort'):
            values = getattr(point, key)
            is_needed = key in ('positions', 'effort')
            assert len(values) == len(message.joint_names) or (not values and not is_needed)
            assert np.isfinite(values).all()


@pytest.mark.kept(1)
@pytest.mark.parametrize('site', range(3), indirect=True)
def test_trajectories_of_all_kinds(site: Any) -> None:
    """Each is answered, or dropped with a reason."""
    for step in site.source.trajectories(COUNT):
        site.ask(step.message)
    for answer in site.answers:
        check(answer)
    assert len(site.answers) > 0.2 * COUNT
    assert len(site.drops) > 0.05 * COUNT


def test_messages_that_are_none_of_their_type_do_not_end_the_node(site: Any) -> None:
    from sensor_msgs.msg import Imu, JointState

    kinds = {'/joint_states': JointState, '/imu': Imu}
    publishers = [site.probe.create_publisher(kind, name, 1) for name, kind in kinds.items()]
    site.spin(lambda: all(one.get_subscription_count() for one in publishers))
    for data in (b'', b'\x00', b'\x00\x01\x00\x00', bytes(range(64)), b'\xff' * 200):
        for publisher in publishers:
            publisher.publish(data)
        site.serve_for(0.1)
    (step,) = site.source.trajectories(1)
    site.ask(step.message)
