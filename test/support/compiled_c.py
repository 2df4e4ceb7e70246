"""C text compiled as a library, and its functions called with arrays."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

STRICT = ('-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-trigraphs', '-O0')


def compile_c(text, folder, *, flags=STRICT):
    """Return a C text as a library, a warning is an error; skip where there is no compiler."""
    found = shutil.which('cc') or shutil.which('gcc') or shutil.which('clang')
    if found is None:
        pytest.skip('no C compiler (cc, gcc or clang) is installed')
    source, library = folder / 'text.c', folder / 'text.so'
    source.write_text(text, encoding='utf-8')
    words = [found, *flags, '-shared', '-fPIC', str(source), '-I', str(folder)]
    result = subprocess.run(
        [*words, '-o', str(library), '-lm'], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return ctypes.CDLL(str(library))


def call_c(function, *arrays):
    """Call a C function of arrays, the last of which takes the result."""
    assert all(array.flags.c_contiguous and array.dtype == np.float64 for array in arrays)
    function.restype = None
    function(*[ctypes.c_void_p(array.ctypes.data) for array in arrays])
