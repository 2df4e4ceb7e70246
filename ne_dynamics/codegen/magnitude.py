"""How large the inputs of a program may be before something in it can overflow."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ne_dynamics.codegen.program import Program
from ne_dynamics.codegen.symbols import CLAMP
from ne_dynamics.codegen.thresholds import CODEGEN

LARGEST_INPUTS = (1e70, 1e35, 1e15, 1e7)
"""Tried as magnitude of all inputs for which nothing overflows."""

LARGEST_VALUE = 1e290
"""No intermediate value may exceed this; doubles end at 1.8e308."""


@dataclass(frozen=True)
class LargestInput:
    """The size up to which inputs are taken.

    Attributes
    ----------
    bound : float
        Largest magnitude of an input.
    is_enough : bool
        Whether inputs up to it cannot make any value overflow. Where they can, or where the
        program divides, the outputs must be looked at.
    """

    bound: float
    is_enough: bool


def find_largest_input(program: Program) -> LargestInput:
    """Return the largest size of inputs for which no value of the program overflows.

    Sizes are followed through the program: those of a sum add, those of a product multiply.
    """
    graph = program.graph
    # A root of what is negative shows in the outputs, as a quotient by zero does.
    divides = any(graph.nodes[index][0] in ('div', 'sqrt') for index in program.live)
    for candidate in LARGEST_INPUTS:
        if _largest_value(program, candidate) <= LARGEST_VALUE:
            return LargestInput(candidate, is_enough=not divides)
    return LargestInput(LARGEST_INPUTS[0], is_enough=False)


def _largest_value(program: Program, bound: float) -> float:
    """Return the largest size of any value; a quotient counts with the size of its dividend."""
    sizes: dict[int, float] = {}
    shared: set[str] = set()
    if program.is_shared:
        stem, count = program.inputs[-1]
        shared = {f'{stem}{index + 1}' for index in range(count)}
    for index in program.live:
        key = program.graph.nodes[index]
        operation = key[0]
        if operation == 'input':
            size = CODEGEN.largest_parameter if key[1] in shared else bound
        elif operation == 'const':
            size = abs(key[1])
        elif operation in ('sin', 'cos', 'sign', 'tanh'):
            size = 1.0
        elif operation == 'exp':
            is_decaying = key[2] and program.graph.is_nonnegative(key[1])
            size = 1.0 if is_decaying else _bound_exponential(sizes[key[1]])
        elif operation == 'sqrt':
            size = math.sqrt(sizes[key[1]])
        elif operation == 'round':
            size = sizes[key[1]] + 1.0
        elif operation == CLAMP:
            size = min(sizes[key[1]], sizes[key[2]])
        elif operation == 'scale':
            size = abs(key[1]) * sizes[key[2]]
        elif operation in ('add', 'sub'):
            size = sizes[key[1]] + sizes[key[2]]
        elif operation == 'mul':
            size = sizes[key[1]] * sizes[key[2]]
        else:
            size = sizes[key[1]]
        sizes[index] = size
    largest = max(sizes.values(), default=0.0)
    return math.inf if math.isnan(largest) else largest


def _bound_exponential(size: float) -> float:
    return math.exp(size) if size < 700.0 else math.inf
