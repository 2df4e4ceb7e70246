"""Tracers of poses, Jacobians and their rates."""

from __future__ import annotations

from typing import cast

from ne_dynamics.algorithms import kinematics, link_motion
from ne_dynamics.algorithms.scalars.scalar import Scalar
from ne_dynamics.codegen.differentiation import push_forward
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.codegen.symbols import Traced
from ne_dynamics.codegen.traces.trace import Body, Symbols
from ne_dynamics.model.robot import Link


def _make_homogeneous(pose: kinematics.Pose) -> list[list[Scalar]]:
    axes, origin = pose
    rows = [[axis[row] for axis in axes] + [origin[row]] for row in range(3)]
    return [*rows, [0.0, 0.0, 0.0, 1.0]]


def trace_link_poses(subject: Subject, link: Link | None) -> Body:
    """Trace the link poses."""
    links = subject.robot.links
    return lambda q: [
        _make_homogeneous(pose) for pose in kinematics.link_poses(subject.mechanism, links, q)
    ]


def trace_forward_kinematics(subject: Subject, link: Link | None) -> Body:
    """Trace the forward kinematics."""
    assert link is not None

    return lambda q: _make_homogeneous(kinematics.link_pose(subject.mechanism, link, q))


def trace_jacobian(subject: Subject, link: Link | None, axes: str) -> Body:
    """Trace the Jacobian, in 'base', 'tip' or 'world' axes."""
    assert link is not None
    return lambda q: kinematics.jacobian(subject.mechanism, link, q, axes)


def trace_jacobian_rate(subject: Subject, link: Link | None, axes: str) -> Body:
    """Trace the time derivative of the Jacobian, in 'base', 'tip' or 'world' axes."""
    assert link is not None

    def function(q: Symbols, qd: Symbols) -> object:
        rows = kinematics.jacobian(subject.mechanism, link, q, axes)
        return push_forward([cast(Traced, entry) for row in rows for entry in row], q, qd)

    return function


def trace_link_velocities(subject: Subject, link: Link | None) -> Body:
    """Trace the velocities of all links."""
    links = subject.robot.links
    return lambda q, qd: link_motion.link_velocities(subject.mechanism, links, q, qd)


def trace_link_accelerations(subject: Subject, link: Link | None) -> Body:
    """Trace the spatial accelerations of all links: in a link's own axes the twist's slope."""
    links = subject.robot.links

    def function(q: Symbols, qd: Symbols, qdd: Symbols) -> object:
        twists = link_motion.link_velocities(subject.mechanism, links, q, qd)
        flat = [cast(Traced, entry) for twist in twists for entry in twist]
        return push_forward(flat, [*q, *qd], [*qd, *qdd])

    return function
