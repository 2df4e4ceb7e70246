"""A model file is told apart by its content, whatever its name ends in."""

import pytest

from ne_dynamics.errors import ModelError
from ne_dynamics.model.files import load_model

URDF = (
    '<robot name="u"><link name="base"/><link name="a"/><joint name="j" type="continuous">'
    '<parent link="base"/><child link="a"/></joint></robot>'
)
DH = 'convention: standard\njoints:\n  - {d: 0.1, mass: 1.0, inertia: [1, 1, 1]}\n'


def test_content_decides(tmp_path):
    """XML is a URDF and the rest a DH file, whatever the suffix says."""
    (tmp_path / 'a.yaml').write_text('\n  ' + URDF)
    (tmp_path / 'b.urdf').write_text(DH)
    assert load_model(tmp_path / 'a.yaml').joint_names == ('j',)
    assert load_model(str(tmp_path / 'b.urdf')).joint_names == ('joint_1',)
    (tmp_path / 'c').write_bytes(URDF.encode('utf-16'))
    assert load_model(tmp_path / 'c').joint_names == ('j',)


def test_xml_itself_is_accepted():
    assert load_model(URDF).joint_names == ('j',)
    assert load_model(URDF.encode(), base_link='base', tip_link='a').joint_names == ('j',)


def test_base_tip_and_locks_are_for_urdf_only(tmp_path):
    (tmp_path / 'dh').write_text(DH)
    for arguments in (
        {'base_link': 'base'},
        {'tip_link': 'link_1'},
        {'locked_joints': {'joint_1': 0.0}},
    ):
        with pytest.raises(ModelError, match=f'{next(iter(arguments))}: expected none'):
            load_model(tmp_path / 'dh', **arguments)
    assert load_model(tmp_path / 'dh', None, None, {}).n == 1


@pytest.mark.parametrize('source', ['', None, 3, 'no/such/file', 'a: 1\nb: 2', b'a: 1'])
def test_source_that_is_no_model(source):
    """What is neither a file nor XML is refused."""
    with pytest.raises(ModelError):
        load_model(source)
