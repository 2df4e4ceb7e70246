"""Rows of the table of functions, called as the methods that they answer for."""

import numpy as np

from ne_dynamics.codegen.functions import FUNCTIONS

CALLS = {
    name: tuple(argument.name for argument in row.arguments)
    for name, row in FUNCTIONS.items()
    if row.method or name.startswith('jacobian')
}
"""Rows that methods answer for, given arrays alone, and the names of their arguments."""

AXES = {'_in_tip_axes': 'tip', '_at_base_origin': 'world'}
WITH_WRENCHES = '_with_external_wrenches'


def call_row(dynamics, name, values, **more):
    """Call the method of a row with named values: by place, but for what it takes by name.

    Wrenches on links are numbers of all bodies, one after the other.
    """
    row = FUNCTIONS[name]
    method, keywords = row.method, {key: values[key] for key in row.by_name}
    for suffix, axes in AXES.items():
        if name.endswith(suffix):
            method, keywords['axes'] = name.removesuffix(suffix), axes
    if name.endswith(WITH_WRENCHES):
        method, bodies = name.removesuffix(WITH_WRENCHES), dynamics.robot.bodies
        parts = np.split(values['external_wrenches'], len(bodies), axis=-1)
        on_links = {body.name: part for body, part in zip(bodies, parts, strict=True)}
        keywords['external_wrenches'] = on_links
    names = [argument.name for argument in row.arguments]
    places = [values[key] for key in names if key not in keywords]
    return getattr(dynamics, method)(*places, **keywords, **more)


def call_by_sample(dynamics, name, values):
    """Call a row; the result is an array whose first axis is that of the samples."""
    row = FUNCTIONS[name]
    result = np.asarray(call_row(dynamics, name, values))
    is_batch = np.ndim(values[row.arguments[0].name]) == 2
    return np.moveaxis(result, 1, 0) if is_batch and row.is_stacked else result
