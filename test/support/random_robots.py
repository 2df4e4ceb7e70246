"""Random robots as URDF text: seeded, of any size, with every joint type the format has.

Numbers are written with 17 digits, so every reader sees the same robot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOVING_TYPES = ('revolute', 'continuous', 'prismatic')


@dataclass(frozen=True)
class RandomTree:
    """A random robot.

    Attributes
    ----------
    urdf : str
        URDF text.
    root : str
        Link without a parent.
    tip : str
        Link that a wrench may act at; it moves.
    coordinates : tuple of str
        Joints that move by themselves (mimic joints left out).
    kinds : tuple of str
        Type of every joint: 'revolute', 'continuous', 'prismatic', 'fixed' or 'mimic'.
    """

    urdf: str
    root: str
    tip: str
    coordinates: tuple[str, ...]
    kinds: tuple[str, ...]

    @property
    def n(self):
        """Number of coordinates."""
        return len(self.coordinates)


def random_tree(seed, n_joints):
    """Return a random tree.

    Parameters
    ----------
    seed : int
    n_joints : int
        Joints of all kinds together, at least 1. The first one moves by itself.

    Returns
    -------
    RandomTree
    """
    rng = np.random.default_rng([seed, n_joints])
    kinds = _joint_kinds(rng, n_joints)
    links = ['root'] + [f'link_{index}' for index in range(n_joints)]
    parents = [0] + [
        index if rng.random() < 0.65 else int(rng.integers(0, index + 1))
        for index in range(1, n_joints)
    ]
    sources = [index for index, kind in enumerate(kinds) if kind in MOVING_TYPES]
    joint_elements = []
    for index, kind in enumerate(kinds):
        source = f'joint_{rng.choice(sources)}' if kind == 'mimic' else None
        joint_elements.append(
            _joint(rng, f'joint_{index}', kind, links[parents[index]], links[index + 1], source)
        )
    has_children = set(parents)
    link_elements = [_link(rng, links[0], massless=rng.random() < 0.5)]
    for index, kind in enumerate(kinds):
        # A massless link is harmless only where the mass matrix stays regular without it.
        may_be_massless = index + 1 in has_children and kind in ('fixed', 'revolute')
        massless = may_be_massless and rng.random() < 0.2
        link_elements.append(_link(rng, links[index + 1], massless))
    elements = link_elements + joint_elements
    rng.shuffle(elements)  # a reader must not depend on the order in the file
    return RandomTree(
        urdf=f'<robot name="random_{seed}_{n_joints}">\n' + '\n'.join(elements) + '\n</robot>\n',
        root=links[0],
        tip=_random_moving_link(rng, links, parents, kinds),
        coordinates=tuple(f'joint_{index}' for index in sources),
        kinds=tuple(kinds),
    )


def _joint_kinds(rng, n_joints):
    kinds = [
        str(
            rng.choice(
                ['revolute', 'continuous', 'prismatic', 'fixed', 'mimic'],
                p=[0.36, 0.17, 0.2, 0.12, 0.15],
            )
        )
        for _ in range(n_joints)
    ]
    if n_joints >= 8:  # every kind in every larger tree
        kinds[-5:] = rng.permutation(['revolute', 'continuous', 'prismatic', 'fixed', 'mimic'])
    kinds[0] = str(rng.choice(MOVING_TYPES))
    return [str(kind) for kind in kinds]


def _random_moving_link(rng, links, parents, kinds):
    """Return a link with a moving joint above it."""
    moves = [False]
    for index, kind in enumerate(kinds):
        moves.append(moves[parents[index]] or kind != 'fixed')
    return str(rng.choice([link for link, moving in zip(links, moves, strict=True) if moving]))


def _numbers(values):
    return ' '.join(f'{float(value):.17g}' for value in np.atleast_1d(values))


def _random_rpy(rng):
    choice = rng.random()
    if choice < 0.15:
        return np.zeros(3)
    if choice < 0.3:  # quarter turns as URDF files write them
        return rng.choice([-1.5707963267948966, 0.0, 1.5707963267948966], size=3)
    return rng.uniform(-np.pi, np.pi, size=3)


def _origin(rng):
    return (
        f'<origin xyz="{_numbers(rng.uniform(-0.5, 0.5, 3))}" rpy="{_numbers(_random_rpy(rng))}"/>'
    )


def _axis(rng):
    choice = rng.random()
    if choice < 0.1:
        return ''  # the format's default: x
    if choice < 0.45:
        axis = np.zeros(3)
        axis[rng.integers(3)] = rng.choice([-1.0, 1.0])
    else:
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
    return f'<axis xyz="{_numbers(axis)}"/>'


def _joint(rng, name, kind, parent, child, source):
    joint_type = str(rng.choice(MOVING_TYPES)) if kind == 'mimic' else kind
    parts = [
        f'<joint name="{name}" type="{joint_type}">',
        _origin(rng),
        f'<parent link="{parent}"/><child link="{child}"/>',
    ]
    if kind != 'fixed':
        parts.append(_axis(rng))
        if joint_type != 'continuous':
            parts.append('<limit lower="-3" upper="3" effort="100" velocity="10"/>')
        parts.append(_joint_friction(rng))
    if kind == 'mimic':
        multiplier = rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 2.0)
        attributes = f' joint="{source}"'
        if rng.random() < 0.8:
            attributes += f' multiplier="{_numbers(multiplier)}"'
        if rng.random() < 0.8:
            attributes += f' offset="{_numbers(rng.uniform(-1.0, 1.0))}"'
        parts.append(f'<mimic{attributes}/>')
    parts.append('</joint>')
    return ''.join(parts)


def _joint_friction(rng):
    attributes = ''
    if rng.random() < 0.7:
        attributes += f' damping="{_numbers(rng.uniform(0.0, 2.0))}"'
    if rng.random() < 0.7:
        attributes += f' friction="{_numbers(rng.uniform(0.0, 2.0))}"'
    return f'<dynamics{attributes}/>' if attributes else ''


def _link(rng, name, massless):
    if massless:
        return f'<link name="{name}"/>'
    mass = rng.uniform(0.1, 5.0)
    # Second moments of a real body: three positive spreads along random axes.
    spread_x, spread_y, spread_z = mass * rng.uniform(0.01, 0.3, size=3) ** 2
    principal = np.diag([spread_y + spread_z, spread_x + spread_z, spread_x + spread_y])
    axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    tensor = axes @ principal @ axes.T
    entries = ' '.join(
        f'i{"xyz"[row]}{"xyz"[column]}="{_numbers(tensor[row, column])}"'
        for row in range(3)
        for column in range(row, 3)
    )
    origin = (
        f'<origin xyz="{_numbers(rng.uniform(-0.3, 0.3, 3))}"'
        f' rpy="{_numbers(rng.uniform(-np.pi, np.pi, 3))}"/>'
    )
    return (
        f'<link name="{name}"><inertial>{origin}<mass value="{_numbers(mass)}"/>'
        f'<inertia {entries}/></inertial></link>'
    )
