"""A load as the parameters of the node, in YAML, and in words."""

from __future__ import annotations

import yaml

from ne_dynamics.identification.load.payload_fit import NAMES, PayloadFit


def format_parameters(fit: PayloadFit) -> str:
    """Return the parameters `payload.*` of the node as the YAML text of a parameter file."""
    values = [float(value) for value in fit.values]
    payload = {
        'mass': values[0],
        'com': values[1:4],
        'inertia': values[4:],
        'link': fit.link_name,
    }
    document = {'/**': {'ros__parameters': {'payload': payload}}}
    text = str(yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=2**20))
    left = [name for name, is_told in zip(NAMES, fit.determined, strict=True) if not is_told]
    if fit.inertia.mass > 0.0 and left:
        text = (
            f'# The log does not tell {", ".join(left)}: they are about those of a ball.\n{text}'
        )
    return text


def describe_payload(fit: PayloadFit) -> list[str]:
    """Return a load in lines of text."""
    source = 'two logs' if fit.is_difference else 'one log, with what is believed of the arm'
    basis = f'from {fit.duration:.1f} s, by the motion of {source}'
    if fit.inertia.mass == 0.0:
        return [f'no load at {fit.link_name!r}: mass 0 +- {fit.deviation[0]:.2g} kg, {basis}']
    lines = [f'load at {fit.link_name!r}, {basis}', '']
    for name, value, deviation, is_told in zip(
        NAMES, fit.values, fit.deviation, fit.determined, strict=True
    ):
        unit = 'kg' if name == 'mass' else 'm' if len(name) == 1 else 'kg m^2'
        told = '' if is_told else '  not told by the log: of a ball'
        lines.append(f'  {name:5}  {value:9.4f} +- {deviation:<8.2g} {unit}{told}')
    width = max(len(name) for name in fit.joints)
    lines += ['', f'  {"RMS left":{width}}  {"without":>10}  {"with load":>10}']
    for name, before, after in zip(fit.joints, fit.rms_before, fit.rms_after, strict=True):
        lines.append(f'  {name:{width}}  {before:10.4g}  {after:10.4g}')
    return [*lines, '', *format_parameters(fit).splitlines()]
