"""The chains of a robot from which one is chosen by its tip link."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import Link, Robot
from ne_dynamics.tables import align_lines

TOOL = re.compile(
    r'(.*[_/-])?(tool0|tool|flange|tcp|ee|eef|end_effector)([_-](link|frame))?', re.IGNORECASE
)
"""How links are called where tools are fixed."""


@dataclass(frozen=True)
class Chain:
    """A link and the joints on the way to it.

    Attributes
    ----------
    tip_link : str
    joints : tuple of str
        From the base on.
    is_tool : bool
        Whether its name is that of a place for tools: tool0, flange, tcp, ...
    """

    tip_link: str
    joints: tuple[str, ...]
    is_tool: bool


def list_chains(robot: Robot) -> list[Chain]:
    """Return the chains to ends of the tree and to places for tools.

    Places for tools come first, then the longest. Of several with the same joints there are only
    places for tools, or the first end.
    """
    parents = {link.parent for link in robot.links}
    chains = [
        Chain(link.name, _list_joints(robot, link), bool(TOOL.fullmatch(link.name)))
        for link in robot.links
        if link.name not in parents or TOOL.fullmatch(link.name)
    ]
    chains.sort(key=lambda chain: (not chain.is_tool, -len(chain.joints)))
    kept: list[Chain] = []
    for chain in chains:
        is_new = all(chain.joints != other.joints for other in kept)
        if chain.joints and (chain.is_tool or is_new):
            kept.append(chain)
    return kept


def list_ends(robot: Robot) -> list[str]:
    """Return the links that no other link hangs on."""
    parents = {link.parent for link in robot.links}
    return [link.name for link in robot.links if link.name not in parents]


def require_tip(robot: Robot, tip_link: str | None) -> str:
    """Return the tip link: the given one, or the only end; the error names the likely first."""
    ends = list_ends(robot)
    tip_link = tip_link or (ends[0] if len(ends) == 1 else '')
    if not tip_link:
        tips = ', '.join(chain.tip_link for chain in list_chains(robot))
        raise InputError(f'--tip-link: expected one of {tips}, got none')
    return tip_link


def _list_joints(robot: Robot, link: Link) -> tuple[str, ...]:
    names: list[str] = []
    body = link.body
    while body >= 0:
        name = robot.joint_names[robot.bodies[body].coordinate]
        names += [name] * (name not in names)
        body = robot.bodies[body].parent
    return tuple(reversed(names))


def describe_chains(chains: Sequence[Chain], most: int = 8) -> list[str]:
    """Return the chains as proposals for `--tip-link`, so many at most, in lines."""
    if not chains:
        return []
    rows = [
        [
            f'--tip-link {shlex.quote(chain.tip_link)}',
            f'{len(chain.joints)} joints',
            'named like a place for tools' * chain.is_tool,
            ', '.join(chain.joints),
        ]
        for chain in chains[:most]
    ]
    more = len(chains) - len(rows)
    return [
        '',
        '  the tree has several ends; one of them is chosen by',
        *(f'    {line}' for line in align_lines([], rows, is_text=True)),
        *([f'    and {more} more'] if more else []),
    ]
