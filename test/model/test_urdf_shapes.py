"""Collision shapes of a URDF, and where its meshes are."""

import numpy as np
import pytest

from ne_dynamics.errors import ModelError
from ne_dynamics.model.urdf.mesh_files import find_mesh
from ne_dynamics.model.urdf.shapes import read_shapes

SHAPES = {
    '<box size="0.1 0.2 0.3"/>': ('box', (0.1, 0.2, 0.3)),
    '<sphere radius="0.1"/>': ('sphere', (0.1,)),
    '<cylinder radius="0.1" length="0.4"/>': ('cylinder', (0.1, 0.4)),
    '<capsule radius="0.1" length="0.4"/>': ('capsule', (0.1, 0.4)),
}


def make_urdf(*shapes, origin='<origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>'):
    """Return a robot of one link with shapes."""
    text = ''.join(
        f'<collision>{origin}<geometry>{shape}</geometry></collision>' for shape in shapes
    )
    return f'<robot name="r"><link name="arm">{text}</link></robot>'


def test_shapes_of_every_kind_are_read():
    found = read_shapes(make_urdf(*SHAPES))
    assert [(shape.kind, shape.size) for shape in found] == list(SHAPES.values())
    for shape in found:
        assert shape.link == 'arm'
        np.testing.assert_allclose(shape.pose_in_link.translation, [1.0, 2.0, 3.0])
        np.testing.assert_allclose(shape.pose_in_link.rotation[:, 0], [0.0, 1.0, 0.0], atol=1e-12)
    (plain,) = read_shapes(make_urdf('<sphere radius="1"/>', origin=''))
    np.testing.assert_array_equal(plain.pose_in_link.rotation, np.eye(3))


@pytest.mark.parametrize(
    ('shape', 'message'),
    [
        ('<box size="0.1 0.2"/>', r"link 'arm': collision: box size: expected 3 numbers"),
        ('<sphere radius="0"/>', 'sphere: expected sizes above 0'),
        ('<sphere radius="nan"/>', 'sphere radius: expected a finite number'),
        ('<sphere/>', "sphere: expected the attribute 'radius', got none"),
        ('<torus/>', "expected box, sphere, cylinder, capsule or mesh, got 'torus'"),
        ('', 'geometry: expected one shape, got 0'),
        ('<mesh filename="no.stl"/>', r"mesh 'no.stl': expected a file, found none in"),
        ('<mesh filename="a.stl" scale="1 0 1"/>', 'scale: expected three numbers other than 0'),
        ('<mesh filename="http://a/b.stl"/>', 'got another scheme'),
        ('<mesh filename="package://robot/b.stl"/>', "mesh 'package://robot/b.stl': expected"),
    ],
)
def test_wrong_shapes_are_named(shape, message):
    with pytest.raises(ModelError, match=message):
        read_shapes(make_urdf(shape))


def test_meshes_are_found(tmp_path, monkeypatch):
    """By package beside the URDF, by a folder that is given, by the environment, by name."""
    monkeypatch.delenv('ROS_PACKAGE_PATH', raising=False)
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    mesh = tmp_path / 'share' / 'my robot' / 'meshes' / 'a.stl'
    mesh.parent.mkdir(parents=True)
    mesh.write_text('solid a')
    urdf = mesh.parents[1] / 'urdf' / 'robot.urdf'
    urdf.parent.mkdir()
    name = 'package://my robot/meshes/a.stl'
    assert find_mesh(name, urdf) == mesh
    assert find_mesh('../meshes/a.stl', urdf).samefile(mesh)
    assert find_mesh('file://' + str(mesh).replace(' ', '%20'), None) == mesh
    for folder in (tmp_path / 'share', mesh.parents[1]):
        assert find_mesh(name, None, [str(folder)]) == mesh
    with pytest.raises(ModelError, match='found none'):
        find_mesh(name, None)
    monkeypatch.setenv('ROS_PACKAGE_PATH', f'/nowhere:{tmp_path / "share"}')
    assert find_mesh(name, None) == mesh
    monkeypatch.delenv('ROS_PACKAGE_PATH')
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    assert find_mesh(name, None) == mesh
    with pytest.raises(ModelError, match='found none'):
        find_mesh('package://' + 'a' * 5000, urdf)
