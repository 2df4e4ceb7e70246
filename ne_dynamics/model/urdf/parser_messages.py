"""What the parser of URDFs reports, as findings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ne_dynamics.model.robot import ModelFinding
from ne_dynamics.model.urdf.xml_values import quote


def group_messages(messages: list[str]) -> Iterator[ModelFinding]:
    """Yield one finding for each element that holds what the parser does not know."""
    unknown: dict[tuple[str, str, str], list[str]] = {}
    for message in messages:
        known = re.match(r'Unknown (tag|attribute) "(.*)" in (.*)', message, re.DOTALL)
        if known is None:
            yield ModelFinding('warning', 'parser-message', 'robot', message)
            continue
        kind, name, path = known.groups()
        holder = re.search(r"/(link|joint)\[@name='(.*?)'\](.*)", path, re.DOTALL)
        element = 'robot' if holder is None else quote(holder.group(1), holder.group(2))
        # A foreign element beside links, or beside a link's inertial, changes no dynamics.
        harmless = holder is None or (holder.group(1) == 'link' and not holder.group(3))
        severity = 'info' if harmless else 'warning'
        names = unknown.setdefault((severity, f'unknown-{kind}', element), [])
        shown = f'<{name}>' if kind == 'tag' else repr(name)
        if shown not in names:
            names.append(shown)
    for (severity, code, element), names in unknown.items():
        yield ModelFinding(
            severity,
            code,
            element,
            f'the parser does not know the {code.removeprefix("unknown-")} {", ".join(names)}: '
            'left out',
        )
