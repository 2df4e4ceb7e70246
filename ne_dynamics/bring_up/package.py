"""The files of a bring-up package, by templates."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ne_dynamics import __version__
from ne_dynamics.bring_up.arm import BroughtUpArm
from ne_dynamics.errors import optional_dependency
from ne_dynamics.model.robot import Robot
from ne_dynamics.prepared_file import write_whole

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name('templates')

SUFFIX = '.jinja'

COLORS = ('#1f77b4', '#d62728', '#1ac938', '#ff7f0e', '#9467bd', '#17becf')
"""Of the joints' curves, in turns."""


def write_package(
    folder: Path, texts: Mapping[str, str], robot: Robot, remarks: Sequence[str], launch: str
) -> list[str]:
    """Write texts by their paths in a folder; say in lines what, and which file to launch."""
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / path, text)
    name = folder.absolute().name
    return [
        f'{folder}: {len(texts)} files for {robot.n} joints, tip {robot.tip_link}',
        *remarks,
        f'Next: colcon build --packages-select {name}, then',
        f'      ros2 launch {name} {launch}   ({folder}/README.md)',
    ]


def render_package(arm: BroughtUpArm) -> dict[str, str]:
    """Return the texts of all files, by their paths in the package.

    Parameters
    ----------
    arm : BroughtUpArm
    """
    texts = render_templates(make_environment(), _values(arm))
    return texts | {f'resource/{arm.package}': '', 'urdf/arm.urdf': arm.description}


def render_templates(environment: Environment, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of all templates, by their paths without the suffix."""
    return {
        name.removesuffix(SUFFIX): environment.get_template(name).render(values)
        for name in environment.list_templates(extensions=[SUFFIX[1:]])
    }


def render_file(name: str, arm: BroughtUpArm) -> str:
    """Return the text of one file, e.g. `config/plotjuggler.xml`."""
    return make_environment().get_template(name + SUFFIX).render(_values(arm))


def make_environment(folder: Path = TEMPLATES) -> Environment:
    """Return what reads the templates of a folder.

    Names come from outside: each place of a template escapes them by the filter `tojson` (YAML,
    JSON, Python) or `e` (XML).
    """
    with optional_dependency('a bring-up package needs Jinja2', 'report'):
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    environment = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.policies['json.dumps_function'] = _dump
    return environment


def _dump(value: Any, **options: Any) -> str:
    """Return JSON that is YAML too, which has other ends of lines, and forbids some characters."""
    text = json.dumps(value, ensure_ascii=False, **options)
    forbidden = (*range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF)
    return text.translate({code: f'\\u{code:04x}' for code in forbidden})


def _values(arm: BroughtUpArm) -> dict[str, Any]:
    position, effort = arm.robot.position_unit, arm.robot.effort_unit
    return {
        'arm': arm,
        'colors': COLORS,
        'position_unit': position,
        'velocity_unit': f'{position}/s'.replace('rad or m/s', 'rad/s or m/s'),
        'effort_unit': effort,
        'version': __version__,
    }
