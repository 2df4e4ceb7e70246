"""Fixtures of the tests of generated code: a private cache, and what needs the compiler."""

import pytest


def find_missing_compiler():
    """Return why nothing can be compiled here; '' where it can."""
    from ne_dynamics.codegen.llvm.compiler import toolchain
    from ne_dynamics.errors import BackendError

    try:
        toolchain()
    except BackendError as error:
        return str(error)
    return ''


@pytest.fixture(scope='session')
def session_cache(shared_folder):
    """Folder in which the machine code of this session is kept, by all processes of it."""
    return shared_folder / 'machine_code'


@pytest.fixture(autouse=True)
def private_cache(session_cache, monkeypatch):
    """Keep every test away from the user's own cache."""
    monkeypatch.setenv('NE_DYNAMICS_CACHE', str(session_cache))


@pytest.fixture(scope='session')
def compiler():
    """Skip a test that needs the compiler when there is none."""
    missing = find_missing_compiler()
    if missing:
        pytest.skip(missing)


@pytest.fixture(params=['python', 'compiled'])
def backend(request):
    """Each backend; skipped where there is no compiler for it."""
    if request.param == 'compiled':
        request.getfixturevalue('compiler')
    return request.param


@pytest.fixture(scope='session')
def compile_program(session_cache, compiler):
    """Return what compiles a program: its kernel, and its entry for one sample."""
    from ne_dynamics.codegen.cache import ObjectCache
    from ne_dynamics.codegen.entry_call import Owner
    from ne_dynamics.codegen.llvm.compiler import CompiledKernel

    def refuse(*arguments):
        raise AssertionError('the compiled entry refused its arguments')

    def build(program):
        kernel = CompiledKernel(program, ObjectCache(session_cache))
        return kernel, kernel.entry(Owner(None, refuse, kernel.most_rows), program.name)

    return build
