"""What generated text says about itself, in lines for comments."""

from __future__ import annotations

from ne_dynamics.codegen.functions import FUNCTIONS
from ne_dynamics.codegen.program import Program
from ne_dynamics.codegen.source import list_unused

MARK = (
    'Written by `ne_dynamics equations --all`. The next export to this folder replaces this file.'
)
"""What the first lines of each file of an export say."""


def describe_count(program: Program) -> str:
    """Return how many operations a program takes."""
    count = program.count()
    return (
        f'{count.multiplications} multiplications, {count.additions} additions, '
        f'{count.functions} sines, cosines and other functions'
    )


def describe_function(program: Program, rounding: str) -> list[str]:
    """Return lines that say what a function computes, its arguments and result, sizes and units.

    Rounding is from :func:`~ne_dynamics.codegen.c.rounding_note.describe_rounding`.
    """
    row = FUNCTIONS[program.name]
    unused = list_unused(program)
    names = [argument.stem or argument.name for argument in row.arguments]
    width = max(len(name) for name in (*names, 'result'))
    lines = [f'{program.name}: {row.meaning}.']
    for name, argument, (_, size) in zip(names, row.arguments, program.inputs, strict=True):
        use = '; makes no difference for this robot' if name in unused else ''
        lines.append(f'  {name:<{width}}  {size}: {argument.unit}{use}')
    shape = ' x '.join(map(str, program.shape)) or '1'
    return [
        *lines,
        f'  {"result":<{width}}  {shape}: {row.returns}',
        f'{describe_count(program)}.',
        f'Numbers taken as exact: {rounding}.',
    ]
