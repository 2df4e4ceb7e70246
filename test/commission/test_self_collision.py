"""Planned motions that would bring links of an arm into contact."""

from types import SimpleNamespace

import numpy as np
import pytest
from small_arm import URDF

import ne_dynamics as ned
from ne_dynamics.commission.motions import plan_way
from ne_dynamics.commission.self_collision import SelfCollision
from ne_dynamics.errors import ExcitationError

START = np.array([0.0, -0.8, 1.2])
FOLDED = np.array([0.0, 0.4, 2.3])


def with_shapes(folder, tall=0.5):
    """Write the small arm with a column that its fore arm can be folded onto; return both."""
    text = URDF
    for name, origin, size in (
        ('column', '0 0 0.1', f'0.06 0.06 {tall}'),
        ('fore', '0.15 0 0', '0.3 0.04 0.04'),
    ):
        shape = f'<collision><origin xyz="{origin}"/><geometry><box size="{size}"/></geometry>'
        begin = f'<link name="{name}">'
        assert begin in text
        text = text.replace(begin, f'{begin}{shape}</collision>')
    file = folder / 'shaped.urdf'
    file.write_text(text)
    return str(file), ned.Dynamics(ned.load_urdf(str(file)), backend='python')


def test_a_motion_in_which_links_touch_is_not_begun(tmp_path):
    """With the links, and what can be done; others are."""
    pytest.importorskip('coal', reason='needs coal')
    file, dynamics = with_shapes(tmp_path)
    links = SelfCollision(dynamics, file, START)
    assert links.why_not == ''
    assert links.sentence.startswith('Checked by the shapes in the model')
    links.check(plan_way(dynamics.robot, START, START + 0.2))
    with pytest.raises(ExcitationError, match=r'not begun: links column and fore.* --reach'):
        links.check(plan_way(dynamics.robot, START, FOLDED))


def test_links_keep_ten_millimetres_in_every_pose_that_is_looked_at(tmp_path, monkeypatch):
    """One in five milliseconds."""
    pytest.importorskip('coal', reason='needs coal')
    file, dynamics = with_shapes(tmp_path)
    links = SelfCollision(dynamics, file, START)
    assert {pair.margin for pair in links._clearance.pairs} == {0.01}
    looked_at = []

    def take(dynamics, dense):
        looked_at.append(dense.times)
        return SimpleNamespace(check=lambda clearance: None)

    monkeypatch.setattr('ne_dynamics.commission.self_collision.Distances', take)
    links.check(plan_way(dynamics.robot, START, START + 0.2))
    np.testing.assert_allclose(np.diff(looked_at[0]), 0.005, rtol=0.01)


def test_where_nothing_can_be_checked_it_is_said(tmp_path):
    """No shapes, no library, links that touch where the arm stands by coarse shapes."""
    file = tmp_path / 'bare.urdf'
    file.write_text(URDF)
    dynamics = ned.Dynamics(ned.load_urdf(str(file)), backend='python')
    links = SelfCollision(dynamics, str(file), START)
    assert 'Not checked: links against each other (' in links.sentence
    links.check(plan_way(dynamics.robot, START, FOLDED))
    shaped, dynamics = with_shapes(tmp_path)
    touching = SelfCollision(dynamics, shaped, FOLDED)
    assert touching.why_not
    touching.check(plan_way(dynamics.robot, FOLDED, START))
