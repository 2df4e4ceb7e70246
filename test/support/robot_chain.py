"""Chains of bodies, put together without a file."""

import numpy as np

from ne_dynamics.model.robot import Body, Joint, Link, Robot, Transform


def chain_of(parts, name='chain', **joint):
    """Return a robot whose every body hangs on the one before.

    Parameters
    ----------
    parts : sequence of (JointType, array-like of 3, Transform, Inertia)
        Joint, its axis, pose in the body before, and inertia of each body.
    name : str
    **joint
        Friction and drives of every joint.
    """
    joints, bodies, links = [], [], [Link('base', -1, Transform.identity(), None)]
    for index, (kind, axis, pose, inertia) in enumerate(parts):
        own, link = f'joint_{index}', f'link_{index}'
        joints.append(Joint(own, kind, **joint))
        axis = np.array(axis, dtype=float)
        bodies.append(Body(link, own, index - 1, kind, axis, pose, index))
        links.append(Link(link, index, Transform.identity(), links[-1].name, inertia))
    return Robot(name, tuple(joints), tuple(bodies), tuple(links), 'base', links[-1].name)
