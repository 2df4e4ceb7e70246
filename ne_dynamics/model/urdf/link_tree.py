"""How the links of a URDF hang on one another, and which joint moves how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ne_dynamics.errors import ModelError
from ne_dynamics.model.urdf.description import (
    MOVING_TYPES,
    UNSUPPORTED_TYPES,
    JointDescription,
    MimicDescription,
    RobotDescription,
)


@dataclass(frozen=True)
class JointCoupling:
    """Position of a joint: multiplier * coordinate + offset; no coordinate: locked at offset."""

    coordinate: str | None
    multiplier: float
    offset: float


class LinkTree:
    """The links beyond a base, as one tree.

    Parameters
    ----------
    description : RobotDescription
    base_link : str or None
        Default: the root.
    tip_link : str or None

    Attributes
    ----------
    base : str
    tip : str or None
    is_whole : bool
        Whether the base is the root.
    below_base : list of JointDescription
        Depth first, in the order of the file.
    moving : set of str
        Joints that may move: on the way to the tip, or all below the base.

    Raises
    ------
    ModelError
        When the links make no tree, there is no such base or tip, or a joint between them has
        several coordinates.
    """

    def __init__(
        self, description: RobotDescription, base_link: str | None, tip_link: str | None
    ) -> None:
        self._links = description.links
        self._joints = description.joints
        self._children, self._joint_above = self._connect_links()
        self.base = (
            self._find_root() if base_link is None else self._check_link_name(base_link, 'base')
        )
        self.tip = None if tip_link is None else self._check_link_name(tip_link, 'tip')
        self.is_whole = self.base in self._find_roots()
        self.below_base = list(self._walk_joints_below(self.base))
        self.moving = self._find_moving_joints()

    def _connect_links(
        self,
    ) -> tuple[dict[str, list[JointDescription]], dict[str, JointDescription]]:
        children: dict[str, list[JointDescription]] = {name: [] for name in self._links}
        above: dict[str, JointDescription] = {}
        for joint in self._joints.values():
            for what, name in (('parent', joint.parent), ('child', joint.child)):
                if name not in self._links:
                    raise ModelError(
                        f'joint {joint.name!r}: {what}: expected a link of the robot, '
                        f'got {name!r}, which does not exist'
                    )
            if joint.child in above:
                raise ModelError(
                    f'link {joint.child!r}: expected one parent, got the joints '
                    f'{above[joint.child].name!r} and {joint.name!r} (kinematic loop?)'
                )
            above[joint.child] = joint
            children[joint.parent].append(joint)
        return children, above

    def _find_root(self) -> str:
        root = next((name for name in self._links if name not in self._joint_above), None)
        if root is None:
            raise _make_loop_error(self._links)
        return root

    def _check_link_name(self, name: str, what: str) -> str:
        if not isinstance(name, str) or name not in self._links:
            raise ModelError(
                f'{what}_link: expected a link of the robot, got {name!r}; the links are '
                f'{", ".join(sorted(self._links))}'
            )
        return name

    def _walk_joints_below(self, link: str) -> Iterator[JointDescription]:
        """Yield the joints beyond a link, depth first, in the order of the file."""
        frontier = list(reversed(self._children[link]))
        while frontier:
            joint = frontier.pop()
            yield joint
            frontier.extend(reversed(self._children[joint.child]))

    def _find_roots(self) -> list[str]:
        """Return the only root, in a list; raise where the links are no tree."""
        roots = [name for name in self._links if name not in self._joint_above]
        if len(roots) > 1:
            raise ModelError(
                f'expected one root link, got {len(roots)}: {", ".join(sorted(roots))}'
            )
        reached = set(roots)
        for root in roots:
            reached.update(joint.child for joint in self._walk_joints_below(root))
        if len(reached) != len(self._links):
            raise _make_loop_error(set(self._links) - reached)
        return roots

    def _find_moving_joints(self) -> set[str]:
        """Return the joints that may move: on the way to the tip, or all below the base."""
        if self.tip is None:
            path = self.below_base
        else:
            path = []
            link = self.tip
            while link != self.base:
                if link not in self._joint_above:
                    raise ModelError(
                        f'tip_link: expected a link beyond the base link {self.base!r}, '
                        f'got {self.tip!r}, which is not'
                    )
                path.append(self._joint_above[link])
                link = self._joint_above[link].parent
        for joint in path:
            if joint.type in UNSUPPORTED_TYPES:
                raise ModelError(
                    f'joint {joint.name!r}: type: expected {", ".join(MOVING_TYPES)} or fixed '
                    f'between base and tip, got {joint.type!r}; choose a base_link beyond it'
                )
        return {joint.name for joint in path if joint.moves}

    def resolve_couplings(self, locked: Mapping[str, float]) -> dict[str, JointCoupling]:
        """Follow every mimic joint to the coordinate or the locked joint at its end.

        Parameters
        ----------
        locked : mapping of str to float
            Joints that do not move, and where [rad or m].
        """
        motions: dict[str, JointCoupling] = {}
        for start in self._joints.values():
            if not start.moves:
                continue
            trail: list[tuple[JointDescription, MimicDescription]] = []
            joint = start
            while joint.name not in motions:
                if any(joint is follower for follower, _ in trail):
                    names = ' -> '.join(
                        item.name for item in (*(item for item, _ in trail), joint)
                    )
                    raise ModelError(f'joint {joint.name!r}: mimic joints form a cycle: {names}')
                if joint.mimic is None:
                    motions[joint.name] = self._resolve_own_motion(joint, locked)
                    break
                trail.append((joint, joint.mimic))
                joint = self._find_mimicked(joint, joint.mimic)
            for follower, mimic in reversed(trail):
                motions[follower.name] = self._resolve_mimic_motion(
                    follower, mimic, motions[mimic.joint], locked
                )
        return motions

    def _find_mimicked(self, joint: JointDescription, mimic: MimicDescription) -> JointDescription:
        target = self._joints.get(mimic.joint)
        if target is None or not target.moves:
            got = 'which does not exist' if target is None else f'which is {target.type}'
            raise ModelError(
                f'joint {joint.name!r}: mimic: expected a joint that can move, '
                f'got {mimic.joint!r}, {got}'
            )
        return target

    def _resolve_own_motion(
        self, joint: JointDescription, locked: Mapping[str, float]
    ) -> JointCoupling:
        if joint.name in locked:
            return JointCoupling(None, 0.0, locked[joint.name])
        if joint.name in self.moving:
            return JointCoupling(joint.name, 1.0, 0.0)
        return JointCoupling(None, 0.0, 0.0)

    def _resolve_mimic_motion(
        self,
        joint: JointDescription,
        mimic: MimicDescription,
        followed: JointCoupling,
        locked: Mapping[str, float],
    ) -> JointCoupling:
        if joint.name in locked:
            return JointCoupling(None, 0.0, locked[joint.name])
        multiplier = mimic.multiplier * followed.multiplier
        offset = mimic.multiplier * followed.offset + mimic.offset
        is_still = multiplier == 0.0 and joint.name in self.moving
        if followed.coordinate is not None and not is_still:
            # Off the way to the tip too: a joint further down may follow through this one.
            return JointCoupling(followed.coordinate, multiplier, offset)
        return JointCoupling(None, 0.0, offset)


def _make_loop_error(links: Iterable[str]) -> ModelError:
    return ModelError(f'expected a tree of links, got a loop through {", ".join(sorted(links))}')
