"""Sizes up to which machine code takes samples side by side, and the stack."""

from types import SimpleNamespace

import pytest

pytest.importorskip('llvmlite')

from ne_dynamics.codegen.llvm.cpython_entry import _EntryWriter
from ne_dynamics.codegen.llvm.equations import choose_lanes, fits_stack


def program(waiting=1, operations=1):
    count = SimpleNamespace(arithmetic=operations)
    return SimpleNamespace(is_scalar=False, most_waiting=waiting, count=lambda: count)


@pytest.mark.parametrize(
    ('waiting', 'operations', 'lanes'),
    [(256, 16000, 8), (257, 16000, 4), (512, 16000, 4), (513, 16000, 1), (1, 16001, 1)],
)
def test_many_values_or_operations_take_fewer_lanes(waiting, operations, lanes):
    assert choose_lanes(program(waiting, operations), 8) == lanes


def test_one_sample_may_take_twice_the_stack():
    assert fits_stack(program(4096))
    assert not fits_stack(program(4097))


@pytest.mark.parametrize(('size', 'is_on_stack'), [(8192, True), (8193, False)])
def test_a_larger_tile_is_allocated(size, is_on_stack):
    entry = SimpleNamespace(tile=size)
    call = '\n'.join(_EntryWriter._run_batch(entry, 'ptr %x'))
    assert bool(_EntryWriter._reserve_tile(entry)) == is_on_stack
    assert ('PyMem_RawMalloc' in call) != is_on_stack
