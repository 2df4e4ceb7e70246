"""Machine code of batches, for processors with few vector registers and with many."""

import ctypes

import numpy as np
import pytest
from test_compiled import robot_of

import ne_dynamics as ned
from ne_dynamics.codegen.llvm import compiler
from ne_dynamics.codegen.llvm.loops import ALIGNMENT, measure_tile
from ne_dynamics.codegen.programs import trace_function
from ne_dynamics.codegen.subject import Subject

pytestmark = pytest.mark.usefixtures('compiler')

LANES = (4, 8)


def run_batch(program, lanes, *arrays):
    """Return what a program makes of rows, compiled for this many lanes at most."""
    tools = compiler.toolchain()
    engine = tools.load(tools.compile(compiler.write_module(program, None, lanes)), {})
    pointers = [ctypes.c_void_p] * (len(arrays) + 2)
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, *pointers)
    out = np.full((len(arrays[0]), len(program.outputs)), np.nan)
    memory = np.empty(measure_tile(program, lanes) + ALIGNMENT, dtype=np.uint8)
    tile = -(-memory.ctypes.data // ALIGNMENT) * ALIGNMENT
    addresses = [array.ctypes.data for array in (*arrays, out)]
    assert function(engine.address('batch'))(len(out), *addresses, tile) == -1
    return out


@pytest.mark.parametrize('name', ['six_axis_arm', 'tree_5_5'])
def test_the_number_of_lanes_changes_no_bit(name):
    """Four and eight samples side by side give the same results, those of one sample beside."""
    robot = robot_of(name)
    program = trace_function(Subject(robot, (0.0, 0.0, -9.81), 1e-12), 'inverse_dynamics')
    rng = np.random.default_rng(0)
    motion = rng.uniform(-3.0, 3.0, (3, 16, robot.n))
    four, eight = (run_batch(program, lanes, *motion) for lanes in LANES)
    np.testing.assert_array_equal(four, eight)
    expected = ned.Dynamics(robot, (0.0, 0.0, -9.81), 'python').inverse_dynamics(*motion)
    np.testing.assert_allclose(four, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(
    ('features', 'lanes'), [('+avx2,+avx512f', 8), ('+avx2,-avx512f', 4), ('', 4)]
)
def test_lanes_are_those_of_the_processor(features, lanes):
    """Eight samples share registers of 512 bits; four are for processors that have none."""
    assert compiler.count_lanes(features) == lanes
