"""The function that Python calls: everything that knows how CPython and NumPy lay out objects.

The entry checks the arguments of a call (by position or by name; type, dtype, shape, numbers) and
runs the equations, all in one C function. Whatever it does not recognise, it hands to a Python
callable, which knows how to convert and how to complain. It reads objects at fixed offsets;
:func:`is_layout_known` compares them with what the running interpreter really has, and without
that agreement no entry is written.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ne_dynamics.codegen.entry_call import RESULT, Owner, Signature
from ne_dynamics.codegen.llvm.loops import ALIGNMENT, measure_tile
from ne_dynamics.codegen.llvm.thresholds import LLVM
from ne_dynamics.codegen.program import Program

_TYPE = 8
_SLOTS = 16
_TUPLE_SIZE = 16
_TUPLE_ITEMS = tuple.__basicsize__  # CPython 3.14 put a hash before the items
_DATA = 16
_NDIM = 24
_SHAPE = 32
_STRIDES = 40
_DTYPE = 56
_FLAGS = 64
"""Where the fields of objects, instances with slots, tuples and arrays are [bytes]."""

_C_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x0001, 0x0100, 0x0400


_ARRAY_API_TYPE = 2
_ARRAY_API_NEW = 93
_METHOD_FASTCALL_KEYWORDS = 0x0080 | 0x0002
_FUNCTIONS = (
    'Py_IncRef',
    'Py_DecRef',
    'PyEval_SaveThread',
    'PyEval_RestoreThread',
    'PyMem_RawMalloc',
    'PyMem_RawFree',
)
_VECTORCALL = ('PyObject_Vectorcall',)
_VECTORCALL_3_10 = ('PyObject_VectorcallDict', '_PyStack_AsDict')
"""How a callable is called: CPython 3.10 does not export the first."""


class _MethodDefinition(ctypes.Structure):
    _fields_ = (
        ('name', ctypes.c_char_p),
        ('function', ctypes.c_void_p),
        ('flags', ctypes.c_int),
        ('doc', ctypes.c_char_p),
    )


def _find_slot(name: str) -> int:
    return _SLOTS + 8 * Owner.__slots__.index(name)


def make_builtin(
    address: int, code: object, owner: Owner, name: str, doc: str
) -> Callable[..., Any]:
    """Return a builtin that runs an entry.

    Parameters
    ----------
    address : int
        Of the compiled entry.
    code : object
        What keeps the machine code in memory.
    owner : Owner
    name, doc : str
        What tools show of the builtin.
    """
    definition = _MethodDefinition(name.encode(), address, _METHOD_FASTCALL_KEYWORDS, doc.encode())
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    owner.keeps = (code, definition)
    builtin: Callable[..., Any] = make(ctypes.addressof(definition), owner, None)
    return builtin


# ---- what the interpreter has


def _read_array_api() -> Any:
    try:
        module = importlib.import_module('numpy._core._multiarray_umath')
    except ImportError:  # NumPy 1
        module = importlib.import_module('numpy.core._multiarray_umath')
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    address = get_pointer(module._ARRAY_API, None)
    return ctypes.cast(address, ctypes.POINTER(ctypes.c_void_p))


def _read_pointer(address: int) -> int | None:
    return ctypes.c_void_p.from_address(address).value


def _vectorcall_functions() -> tuple[str, ...]:
    return _VECTORCALL if hasattr(ctypes.pythonapi, _VECTORCALL[0]) else _VECTORCALL_3_10


def is_layout_known() -> bool:
    """Compare the layout that entries rely on with what this interpreter really has."""
    if sys.implementation.name != 'cpython' or sysconfig.get_config_var('Py_GIL_DISABLED'):
        return False
    if object.__basicsize__ != _SLOTS or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    try:
        table = _read_array_api()
    except (ImportError, AttributeError, ValueError):
        return False
    if not all(hasattr(ctypes.pythonapi, n) for n in (*_FUNCTIONS, *_vectorcall_functions())):
        return False
    return (
        table[_ARRAY_API_TYPE] == id(np.ndarray) and _are_arrays_known() and _are_objects_known()
    )


def _are_arrays_known() -> bool:
    probe = np.arange(6.0).reshape(2, 3)
    frozen = probe[::2, ::2]
    frozen.setflags(write=False)
    base = id(probe)
    dimensions, strides = _read_pointer(base + _SHAPE), _read_pointer(base + _STRIDES)
    both = _C_CONTIGUOUS | _ALIGNED | _WRITEABLE
    return bool(
        _read_pointer(base + _TYPE) == id(np.ndarray)
        and _read_pointer(base + _DATA) == probe.ctypes.data
        and ctypes.c_int.from_address(base + _NDIM).value == 2
        and dimensions is not None
        and strides is not None
        and ctypes.c_ssize_t.from_address(dimensions + 8).value == 3
        and ctypes.c_ssize_t.from_address(strides).value == 24
        and _read_pointer(base + _DTYPE) == id(np.dtype(np.float64))
        and ctypes.c_int.from_address(base + _FLAGS).value & both == both
        and ctypes.c_int.from_address(id(frozen) + _FLAGS).value & both == _ALIGNED
    )


def _are_objects_known() -> bool:
    names = ('q', RESULT)
    owner = Owner(object(), len, np.array([3.5]))
    return bool(
        ctypes.c_ssize_t.from_address(id(names) + _TUPLE_SIZE).value == len(names)
        and all(
            _read_pointer(id(names) + _TUPLE_ITEMS + 8 * index) == id(name)
            for index, name in enumerate(names)
        )
        and all(
            _read_pointer(id(owner) + _find_slot(slot)) == id(getattr(owner, slot))
            for slot in Owner.__slots__
        )
    )


@cache
def interned(name: str) -> str:
    """Return the one object that stands for an argument's name in calls, kept for good."""
    return sys.intern(name)


def list_symbols(parameters: tuple[str, ...]) -> dict[str, int]:
    """Return the symbols that entries use, by name, with their addresses in this process.

    Parameters
    ----------
    parameters : tuple of str
        Names of arguments of all methods.
    """
    symbols = {
        'ned_array_type': id(np.ndarray),
        'ned_float64': id(np.dtype(np.float64)),
        'ned_none': id(None),
        'ned_new_array': int(_read_array_api()[_ARRAY_API_NEW]),
    }
    for name in (*parameters, RESULT):
        symbols[f'ned_name_{name}'] = id(interned(name))
    for name in (*_FUNCTIONS, *_vectorcall_functions()):
        address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        assert address is not None
        symbols[name] = address
    return symbols


# ---- the text

_NEW_ARRAY = (
    'call ptr @ned_new_array(ptr @ned_array_type, i32 {}, ptr {}, '
    'i32 12, ptr null, ptr null, i32 0, i32 0, ptr null)'
)

_IS_ARRAY = f"""\
%typ = getelementptr i8, ptr %object, i64 {_TYPE}
%type = load ptr, ptr %typ, align 8
%isarray = icmp eq ptr %type, @ned_array_type
br i1 %isarray, label %array, label %refuse
array:
%dtp = getelementptr i8, ptr %object, i64 {_DTYPE}
%dtype = load ptr, ptr %dtp, align 8
%isdouble = icmp eq ptr %dtype, @ned_float64
%ndp = getelementptr i8, ptr %object, i64 {_NDIM}
%has = load i32, ptr %ndp, align 4
%isnd = icmp eq i32 %has, %nd
%known = and i1 %isdouble, %isnd
"""
"""Whether %object is an array of float64 with %nd axes: %known, or a jump to %refuse."""

_DATA_OF = f"""\
define internal ptr @data_of(ptr %object, i32 %nd, i64 %rows, i64 %count) {{
{_IS_ARRAY}br i1 %known, label %shape, label %refuse
shape:
%dap = getelementptr i8, ptr %object, i64 {_DATA}
%data = load ptr, ptr %dap, align 8
%dmp = getelementptr i8, ptr %object, i64 {_SHAPE}
%dm = load ptr, ptr %dmp, align 8
%stp = getelementptr i8, ptr %object, i64 {_STRIDES}
%st = load ptr, ptr %stp, align 8
%axis32 = sub i32 %nd, 1
%axis = zext i32 %axis32 to i64
%lastp = getelementptr i64, ptr %dm, i64 %axis
%last = load i64, ptr %lastp, align 8
%stepp = getelementptr i64, ptr %st, i64 %axis
%step = load i64, ptr %stepp, align 8
%right = icmp eq i64 %last, %count
%dense = icmp eq i64 %step, 8
%address = ptrtoint ptr %data to i64
%rest = and i64 %address, 7
%aligned = icmp eq i64 %rest, 0
%fit = and i1 %right, %dense
%usable = and i1 %fit, %aligned
br i1 %usable, label %outer, label %refuse
outer:
%flat = icmp eq i64 %axis, 0
br i1 %flat, label %give, label %rowwise
rowwise:
%first = load i64, ptr %dm, align 8
%row = load i64, ptr %st, align 8
%wide = mul i64 %count, 8
%same = icmp eq i64 %first, %rows
%packed = icmp eq i64 %row, %wide
%good = and i1 %same, %packed
br i1 %good, label %give, label %refuse
give:
ret ptr %data
refuse:
ret ptr null
}}"""

_RESULT_DATA_OF = f"""\
define internal ptr @result_data_of(ptr %object, i32 %nd, ptr %extents) {{
begin:
{_IS_ARRAY}br i1 %known, label %flags, label %refuse
flags:
%flp = getelementptr i8, ptr %object, i64 {_FLAGS}
%fl = load i32, ptr %flp, align 4
%wanted = and i32 %fl, {_C_CONTIGUOUS | _ALIGNED | _WRITEABLE}
%usable = icmp eq i32 %wanted, {_C_CONTIGUOUS | _ALIGNED | _WRITEABLE}
br i1 %usable, label %shape, label %refuse
shape:
%dmp = getelementptr i8, ptr %object, i64 {_SHAPE}
%dm = load ptr, ptr %dmp, align 8
br label %axis
axis:
%k = phi i32 [ 0, %shape ], [ %next, %equal ]
%left = icmp slt i32 %k, %nd
br i1 %left, label %compare, label %give
compare:
%k64 = zext i32 %k to i64
%hp = getelementptr i64, ptr %dm, i64 %k64
%h = load i64, ptr %hp, align 8
%ep = getelementptr i64, ptr %extents, i64 %k64
%e = load i64, ptr %ep, align 8
%right = icmp eq i64 %h, %e
br i1 %right, label %equal, label %refuse
equal:
%next = add i32 %k, 1
br label %axis
give:
%dap = getelementptr i8, ptr %object, i64 {_DATA}
%data = load ptr, ptr %dap, align 8
ret ptr %data
refuse:
ret ptr null
}}

define internal i1 @are_apart(ptr %a, i64 %asize, ptr %b, i64 %bsize) {{
%a0 = ptrtoint ptr %a to i64
%b0 = ptrtoint ptr %b to i64
%a1 = add i64 %a0, %asize
%b1 = add i64 %b0, %bsize
%below = icmp ule i64 %a1, %b0
%above = icmp ule i64 %b1, %a0
%apart = or i1 %below, %above
ret i1 %apart
}}"""

_CALL = """\
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)

define internal ptr @ned_call(ptr %callable, ptr %args, i64 %nargs, ptr %names) {
%answer = call ptr @PyObject_Vectorcall(ptr %callable, ptr %args, i64 %nargs, ptr %names)
ret ptr %answer
}"""

_CALL_3_10 = """\
declare ptr @PyObject_VectorcallDict(ptr, ptr, i64, ptr)
declare ptr @_PyStack_AsDict(ptr, ptr)

define internal ptr @ned_call(ptr %callable, ptr %args, i64 %nargs, ptr %names) {
%plain = icmp eq ptr %names, null
br i1 %plain, label %places, label %byname
places:
%answer = call ptr @PyObject_VectorcallDict(ptr %callable, ptr %args, i64 %nargs, ptr null)
ret ptr %answer
byname:
%values = getelementptr ptr, ptr %args, i64 %nargs
%keywords = call ptr @_PyStack_AsDict(ptr %values, ptr %names)
%failed = icmp eq ptr %keywords, null
br i1 %failed, label %none, label %both
none:
ret ptr null
both:
%other = call ptr @PyObject_VectorcallDict(ptr %callable, ptr %args, i64 %nargs, ptr %keywords)
call void @Py_DecRef(ptr %keywords)
ret ptr %other
}"""


def write_entry(program: Program, signature: Signature, lanes: int) -> str:
    """Return the CPython function ``@entry``, with all that it needs beside the equations.

    Parameters
    ----------
    program : Program
    signature : Signature
    lanes : int
        Of the batch that it calls.
    """
    declarations = [
        '@ned_array_type = external global i8',
        '@ned_float64 = external global i8',
        '@ned_none = external global i8',
        *[
            f'@ned_name_{name} = external global i8'
            for name in dict.fromkeys((*signature.parameters, RESULT))
        ],
        'declare ptr @ned_new_array(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)',
        'declare void @Py_IncRef(ptr)',
        'declare void @Py_DecRef(ptr)',
        'declare ptr @PyEval_SaveThread()',
        'declare void @PyEval_RestoreThread(ptr)',
        'declare ptr @PyMem_RawMalloc(i64)',
        'declare void @PyMem_RawFree(ptr)',
        f'@shape = private constant [{len(program.shape)} x i64] '
        f'[{", ".join(f"i64 {extent}" for extent in program.shape)}]',
    ]
    if signature.optional:
        most = max(count for _, count in program.own_inputs)
        declarations.append(f'@zeros = private constant [{most} x double] zeroinitializer')
    call = _CALL if _vectorcall_functions() == _VECTORCALL else _CALL_3_10
    writer = _EntryWriter(program, signature, lanes)
    return '\n\n'.join(['\n'.join(declarations), call, _DATA_OF, _RESULT_DATA_OF, writer.write()])


class _EntryWriter:
    """Writes the entry of one program, block by block."""

    def __init__(self, program: Program, signature: Signature, lanes: int) -> None:
        self.program = program
        self.tile = measure_tile(program, lanes)
        self.signature = signature
        self.places = [signature.parameters.index(name) for name in signature.taken]
        self.counts = [count for _, count in program.own_inputs]
        self.result_slot = len(signature.parameters)

    def write(self) -> str:
        batch = ['rowcount:', 'br label %fallback']
        if self.signature.takes_batches:
            batch = [*self._count_rows(), *self._compute('many', 2)]
        return '\n'.join(
            [
                'define ptr @entry(ptr %self, ptr %args, i64 %nargs, ptr %names) {',
                *self._sort_arguments(),
                *self._look_at_first(),
                *self._compute('one', 1),
                *batch,
                'fallback:',
                f'%followp = getelementptr i8, ptr %self, i64 {_find_slot("following")}',
                '%follow = load ptr, ptr %followp, align 8',
                '%other = call ptr @ned_call(ptr %follow, ptr %args, i64 %nargs, ptr %names)',
                'ret ptr %other',
                '}',
            ]
        )

    def _sort_arguments(self) -> list[str]:
        """Write how arguments by place and by name come into one vector, ``%values``."""
        parameters = self.signature.parameters
        slots = len(parameters) + 1
        groups = len(self.places)
        # The usual call, all by place, needs no sorting.
        in_place = self.places == list(range(groups)) and not self.signature.optional
        lines = [
            'begin:',
            f'%slots = alloca [{slots} x ptr], align 8',
            f'%extents = alloca [{len(self.program.shape) + 1} x i64], align 8',
            *self._reserve_tile(),
            f'%exact = icmp eq i64 %nargs, {groups if in_place else -1}',
            '%nameless = icmp eq ptr %names, null',
            '%usual = and i1 %exact, %nameless',
            'br i1 %usual, label %sorted, label %general',
            'general:',
            f'%most = icmp ule i64 %nargs, {len(parameters) - len(self.signature.by_name)}',
            'br i1 %most, label %clear, label %fallback',
            'clear:',
        ]
        for slot in range(slots):
            lines += [
                f'%slot{slot} = getelementptr ptr, ptr %slots, i64 {slot}',
                f'store ptr @ned_none, ptr %slot{slot}, align 8',
            ]
        lines += [
            'br label %place',
            'place:',
            '%pi = phi i64 [ 0, %clear ], [ %pn, %put ]',
            '%pmore = icmp ult i64 %pi, %nargs',
            'br i1 %pmore, label %put, label %placed',
            'put:',
            '%pa = getelementptr ptr, ptr %args, i64 %pi',
            '%po = load ptr, ptr %pa, align 8',
            '%pt = getelementptr ptr, ptr %slots, i64 %pi',
            'store ptr %po, ptr %pt, align 8',
            '%pn = add i64 %pi, 1',
            'br label %place',
            'placed:',
            'br i1 %nameless, label %judge, label %named',
            'named:',
            f'%nsp = getelementptr i8, ptr %names, i64 {_TUPLE_SIZE}',
            '%ns = load i64, ptr %nsp, align 8',
            f'%nitems = getelementptr i8, ptr %names, i64 {_TUPLE_ITEMS}',
            'br label %name',
            'name:',
            '%ni = phi i64 [ 0, %named ], [ %nn, %keep ]',
            '%nmore = icmp ult i64 %ni, %ns',
            'br i1 %nmore, label %match, label %judge',
            'match:',
            '%nkp = getelementptr ptr, ptr %nitems, i64 %ni',
            '%nk = load ptr, ptr %nkp, align 8',
        ]
        place = '-1'
        for slot, name in enumerate((*parameters, RESULT)):
            lines += [
                f'%is{slot} = icmp eq ptr %nk, @ned_name_{name}',
                f'%at{slot} = select i1 %is{slot}, i64 {slot}, i64 {place}',
            ]
            place = f'%at{slot}'
        lines += [
            # A name given by place already is for Python to refuse, an unknown one too.
            f'%fresh = icmp sge i64 {place}, %nargs',
            'br i1 %fresh, label %keep, label %fallback',
            'keep:',
            '%nai = add i64 %nargs, %ni',
            '%nap = getelementptr ptr, ptr %args, i64 %nai',
            '%na = load ptr, ptr %nap, align 8',
            f'%nt = getelementptr ptr, ptr %slots, i64 {place}',
            'store ptr %na, ptr %nt, align 8',
            '%nn = add i64 %ni, 1',
            'br label %name',
            'judge:',
            *self._judge(),
            'sorted:',
            '%values = phi ptr [ %args, %begin ], [ %slots, %taken ]',
            '%out = phi ptr [ @ned_none, %begin ], [ %given, %taken ]',
        ]
        return lines

    def _judge(self) -> list[str]:
        """Write the test that this program is the one to answer."""
        signature = self.signature
        lines: list[str] = []
        conditions = []
        for slot, name in enumerate(signature.parameters):
            if name in signature.taken and name not in signature.decisive:
                continue
            lines += [
                f'%jo{slot} = load ptr, ptr %slot{slot}, align 8',
                f'%jn{slot} = icmp eq ptr %jo{slot}, @ned_none',
            ]
            if name not in signature.taken:
                conditions.append(f'%jn{slot}')
        absent = [f'%jn{signature.parameters.index(name)}' for name in signature.decisive]
        if absent:
            total = absent[0]
            for index, name in enumerate(absent[1:]):
                lines.append(f'%ja{index} = and i1 {total}, {name}')
                total = f'%ja{index}'
            lines.append(f'%jsome = xor i1 {total}, true')
            conditions.append('%jsome')
        verdict = 'true'
        for index, name in enumerate(conditions):
            lines.append(f'%jc{index} = and i1 {verdict}, {name}')
            verdict = f'%jc{index}'
        return [
            *lines,
            f'br i1 {verdict}, label %taken, label %fallback',
            'taken:',
            f'%given = load ptr, ptr %slot{self.result_slot}, align 8',
            'br label %sorted',
        ]

    def _look_at_first(self) -> list[str]:
        """Write what tells one sample from a batch."""
        return [
            '%fresh_result = icmp eq ptr %out, @ned_none',
            f'%leaderp = getelementptr ptr, ptr %values, i64 {self.places[0]}',
            '%leader = load ptr, ptr %leaderp, align 8',
            f'%leadertp = getelementptr i8, ptr %leader, i64 {_TYPE}',
            '%leadertype = load ptr, ptr %leadertp, align 8',
            '%isarray = icmp eq ptr %leadertype, @ned_array_type',
            'br i1 %isarray, label %measure, label %fallback',
            'measure:',
            f'%leaderndp = getelementptr i8, ptr %leader, i64 {_NDIM}',
            '%leadernd = load i32, ptr %leaderndp, align 4',
            '%isone = icmp eq i32 %leadernd, 1',
            'br i1 %isone, label %one0, label %rowcount',
        ]

    def _count_rows(self) -> list[str]:
        return [
            'rowcount:',
            '%istwo = icmp eq i32 %leadernd, 2',
            'br i1 %istwo, label %rowlimit, label %fallback',
            'rowlimit:',
            f'%leaderdmp = getelementptr i8, ptr %leader, i64 {_SHAPE}',
            '%leaderdm = load ptr, ptr %leaderdmp, align 8',
            '%rows = load i64, ptr %leaderdm, align 8',
            f'%limitp = getelementptr i8, ptr %self, i64 {_find_slot("most_rows")}',
            '%limito = load ptr, ptr %limitp, align 8',
            f'%limitdp = getelementptr i8, ptr %limito, i64 {_DATA}',
            '%limitd = load ptr, ptr %limitdp, align 8',
            '%limit = load double, ptr %limitd, align 8',
            '%rowsd = sitofp i64 %rows to double',
            '%few = fcmp ole double %rowsd, %limit',
            'br i1 %few, label %many0, label %fallback',
        ]

    def _gather(self, path: str, nd: int, rows: str) -> list[str]:
        """Write the steps that take the data of every argument, or go to the fallback."""
        lines = []
        for group, (place, count) in enumerate(zip(self.places, self.counts, strict=True)):
            following = f'{path}{group + 1}' if group + 1 < len(self.places) else f'{path}result'
            value = f'%{path}o{group}'
            found = f'ptr @data_of(ptr {value}, i32 {nd}, i64 {rows}, i64 {count})'
            lines += [
                f'{path}{group}:',
                f'%{path}a{group} = getelementptr ptr, ptr %values, i64 {place}',
                f'{value} = load ptr, ptr %{path}a{group}, align 8',
            ]
            if self.signature.taken[group] in self.signature.optional and nd == 1:
                lines += [
                    f'%{path}is{group} = icmp eq ptr {value}, @ned_none',
                    f'%{path}there{group} = call {found}',
                    f'%{path}in{group} = select i1 %{path}is{group}, ptr @zeros, '
                    f'ptr %{path}there{group}',
                ]
            else:
                lines.append(f'%{path}in{group} = call {found}')
            lines += [
                f'%{path}no{group} = icmp eq ptr %{path}in{group}, null',
                f'br i1 %{path}no{group}, label %fallback, label %{following}',
            ]
        return lines

    def _compute(self, path: str, nd: int) -> list[str]:
        """Write gathering, the array for the result, the equations, and what is returned."""
        rows = '%rows' if nd == 2 else '1'
        shape = self.program.shape
        axes = len(shape) + nd - 1
        pointers = [f'ptr %{path}in{group}' for group in range(len(self.places))]
        lines = [*self._gather(path, nd, rows if nd == 2 else '0'), f'{path}result:']
        if self.program.is_shared:
            lines += [
                f'%{path}shp = getelementptr i8, ptr %self, i64 {_find_slot("parameters")}',
                f'%{path}sho = load ptr, ptr %{path}shp, align 8',
                f'%{path}shdp = getelementptr i8, ptr %{path}sho, i64 {_DATA}',
                f'%{path}shared = load ptr, ptr %{path}shdp, align 8',
            ]
            pointers.append(f'ptr %{path}shared')
        sources = ', '.join(pointers)
        extents = '@shape'
        if nd == 2:
            extents = '%extents'
            for axis, extent in enumerate((rows, *shape)):
                lines += [
                    f'%{path}ex{axis} = getelementptr i64, ptr %extents, i64 {axis}',
                    f'store i64 {extent}, ptr %{path}ex{axis}, align 8',
                ]
        lines += [
            f'br i1 %fresh_result, label %{path}new, label %{path}given',
            f'{path}new:',
            f'%{path}made = {_NEW_ARRAY.format(axes, extents)}',
            f'%{path}failed = icmp eq ptr %{path}made, null',
            f'br i1 %{path}failed, label %{path}error, label %{path}made_data',
            f'{path}error:',
            'ret ptr null',
            f'{path}made_data:',
            f'%{path}mdp = getelementptr i8, ptr %{path}made, i64 {_DATA}',
            f'%{path}md = load ptr, ptr %{path}mdp, align 8',
            f'br label %{path}run',
            f'{path}given:',
            f'%{path}gd = call ptr @result_data_of(ptr %out, i32 {axes}, ptr {extents})',
            f'%{path}gno = icmp eq ptr %{path}gd, null',
            f'br i1 %{path}gno, label %fallback, label %{path}apart0',
        ]
        size = len(self.program.outputs) * 8
        for group, count in enumerate(self.counts):
            last = group + 1 == len(self.counts)
            following = f'{path}hold' if last else f'{path}apart{group + 1}'
            lines += [
                f'{path}apart{group}:',
                f'%{path}rs{group} = mul i64 {rows}, {size}',
                f'%{path}is_{group} = mul i64 {rows}, {count * 8}',
                f'%{path}ap{group} = call i1 @are_apart(ptr %{path}gd, i64 %{path}rs{group}, '
                f'ptr %{path}in{group}, i64 %{path}is_{group})',
                f'br i1 %{path}ap{group}, label %{following}, label %fallback',
            ]
        lines += [
            f'{path}hold:',
            'call void @Py_IncRef(ptr %out)',
            f'br label %{path}run',
            f'{path}run:',
            f'%{path}answer = phi ptr [ %{path}made, %{path}made_data ], [ %out, %{path}hold ]',
            f'%{path}to = phi ptr [ %{path}md, %{path}made_data ], [ %{path}gd, %{path}hold ]',
        ]
        if nd == 1:
            lines.append(f'%{path}fine = call i1 @single({sources}, ptr %{path}to)')
        else:
            lines += self._run_batch(f'{sources}, ptr %{path}to')
            lines.append(f'%{path}fine = icmp slt i64 %stopped, 0')
        return [
            *lines,
            f'br i1 %{path}fine, label %{path}give, label %{path}drop',
            f'{path}drop:',
            f'call void @Py_DecRef(ptr %{path}answer)',
            'br label %fallback',
            f'{path}give:',
            f'ret ptr %{path}answer',
        ]

    def _run_batch(self, pointers: str) -> list[str]:
        """Write the call of the batch, with a tile on the heap when it is large."""
        size = self.tile
        is_large = size > LLVM.largest_tile_on_stack
        tile = '%tile' if is_large or size else 'null'
        lines = []
        if is_large:
            lines += [
                f'%tilem = call ptr @PyMem_RawMalloc(i64 {size + ALIGNMENT})',
                '%tilenone = icmp eq ptr %tilem, null',
                'br i1 %tilenone, label %manydrop, label %tiled',
                'tiled:',
                '%tilea = ptrtoint ptr %tilem to i64',
                f'%tileb = add i64 %tilea, {ALIGNMENT - 1}',
                f'%tilec = and i64 %tileb, {-ALIGNMENT}',
                '%tile = inttoptr i64 %tilec to ptr',
            ]
        lines += [
            # Other threads run meanwhile; the caller holds the arguments.
            '%state = call ptr @PyEval_SaveThread()',
            f'%stopped = call i64 @batch(i64 %rows, {pointers}, ptr {tile})',
            'call void @PyEval_RestoreThread(ptr %state)',
        ]
        if is_large:
            lines.append('call void @PyMem_RawFree(ptr %tilem)')
        return lines

    def _reserve_tile(self) -> list[str]:
        size = self.tile
        if 0 < size <= LLVM.largest_tile_on_stack:
            return [f'%tile = alloca [{size} x i8], align {ALIGNMENT}']
        return []
