"""Machine code linked without LLVM; what a process knows of a compiler that it does not start."""

import struct
from dataclasses import replace

import numpy as np
import pytest
from fresh_python import output_of
from random_robots import random_tree
from test_compiled import robot_of

import ne_dynamics as ned
from ne_dynamics.codegen.entry_call import Owner, Signature
from ne_dynamics.codegen.llvm import compiler, library, object_loader, processor
from ne_dynamics.codegen.llvm.cpython_entry import list_symbols, make_builtin
from ne_dynamics.codegen.llvm.object_loader import load_object
from ne_dynamics.codegen.programs import list_functions, trace_function
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.shipped import shipped_file

pytestmark = [
    pytest.mark.usefixtures('compiler'),
    pytest.mark.skipif(
        not object_loader.is_supported(), reason='a process of Linux on x86-64 is missing'
    ),
]

GRAVITY = (0.0, 0.0, -9.81)


def compiled(name='inverse_dynamics', robot=None):
    """Return a program, how Python calls it, and its object code."""
    subject = Subject(robot or robot_of('six_axis_arm'), GRAVITY, 1e-12)
    program = trace_function(subject, name)
    signature = Signature.of(program)
    text = compiler.write_module(program, signature, compiler.toolchain().lanes)
    return program, signature, compiler.toolchain().compile(text)


@pytest.mark.parametrize(
    'name', ['inverse_dynamics', 'mass_matrix', 'inverse_dynamics_derivatives']
)
def test_code_runs_as_where_llvm_links_it(name):
    """One sample and a batch give the same bits by both linkers; nothing is refused."""
    program, signature, code = compiled(name)
    symbols = list_symbols(signature.parameters)
    tools = compiler.toolchain()
    ours = load_object(code, symbols)
    theirs = library.Library().load(code, symbols, tools.cpu, tools.features)
    entries = [
        make_builtin(
            linked.get_function_address('entry'),
            linked,
            Owner(None, pytest.fail, np.array([np.inf])),
            'function',
            '',
        )
        for linked in (ours, theirs)
    ]
    rng = np.random.default_rng(0)
    values = [rng.uniform(-2.0, 2.0, (19, count)) for _, count in program.inputs]
    for some in (values, [value[0].copy() for value in values]):
        np.testing.assert_array_equal(*[entry(*some) for entry in entries])


@pytest.mark.long
def test_every_function_of_the_table_is_linked():
    tree = random_tree(1, 1)
    robot = replace(ned.load_urdf(tree.urdf), tip_link=tree.tip)
    for name in list_functions(robot):
        _, signature, code = compiled(name, robot)
        assert load_object(code, list_symbols(signature.parameters)) is not None


def test_memory_is_not_writable_once_it_runs():
    """What is executed is not written, and what is written is not executed."""
    _, signature, code = compiled('gravity_torque')
    loaded = load_object(code, list_symbols(signature.parameters))
    address = loaded.get_function_address('batch')
    with open('/proc/self/maps', encoding='ascii') as maps:
        areas = [line.split()[:2] for line in maps]
    (rights,) = [
        rights
        for area, rights in areas
        if int(area.split('-')[0], 16) <= address < int(area.split('-')[1], 16)
    ]
    assert rights.startswith('r-x')


def test_what_takes_another_linker_is_left_to_it(monkeypatch):
    """Another processor, a missing symbol, an unknown relocation, memory that stays as it is."""
    _, signature, code = compiled('gravity_torque')
    symbols = list_symbols(signature.parameters)
    assert load_object(code, symbols) is not None
    assert load_object(code[:18] + struct.pack('<H', 183) + code[20:], symbols) is None
    assert load_object(code, {}) is None
    table = next(
        section
        for section in object_loader._Linker(code, symbols).sections
        if section[1] == object_loader._RELOCATIONS
    )
    broken = bytearray(code)
    struct.pack_into('<I', broken, table[4] + 8, 99)
    assert load_object(bytes(broken), symbols) is None

    def refuse(self, image):
        raise OSError(13, 'mprotect')

    monkeypatch.setattr(object_loader.ExecutableMemory, 'fill', refuse)
    assert load_object(code, symbols) is None
    assert processor.describe_machine() == ''


def test_a_processor_answers_alike_on_all_cores():
    """What names a machine is the same at every call, wherever the process runs."""
    assert len({processor.describe_machine() for _ in range(50)}) == 1


SCRIPT = """
import sys
import ne_dynamics as ned
robot = ned.load_urdf(sys.argv[1])
for backend in ('compiled', 'python'):
    print(*ned.Dynamics(robot, backend=backend).gravity_torque([0.1] * robot.n))
print('llvmlite' in sys.modules)
"""


def test_llvm_is_started_to_compile_and_not_to_run(tmp_path):
    """A process that finds everything has no llvmlite; one that finds less of it has."""

    def is_started():
        how = {'NE_DYNAMICS_CACHE': str(tmp_path / 'cache')}
        *results, started = output_of(
            SCRIPT, shipped_file('six_axis_arm.urdf'), **how
        ).splitlines()
        found, expected = (np.array(row.split(), dtype=float) for row in results)
        np.testing.assert_allclose(found, expected, atol=1e-9)
        return started == 'True'

    assert is_started()
    assert not is_started()
    for file in (tmp_path / 'cache').iterdir():  # the code, and what is known of the machine
        file.write_bytes(file.read_bytes()[:-1])
        assert is_started()
        assert not is_started()
