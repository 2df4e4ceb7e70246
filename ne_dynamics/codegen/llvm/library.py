"""LLVM's library, through llvmlite (the compiler package of Numba)."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Mapping
from typing import Any

from ne_dynamics.errors import BackendError

OLDEST_COMPILER = 'llvmlite 0.45 (numba 0.62)'
"""What knows LLVM's opaque pointers; whether the one at hand does is tried, not read off."""

_PROBE = 'define ptr @probe(ptr %p) {\nret ptr %p\n}\n'


class Library:
    """LLVM, started.

    Attributes
    ----------
    binding : module
        ``llvmlite.binding``.
    identity : str
        This machine's triple, processor and features, a line each, LLVM's version and the
        interpreter's.

    Raises
    ------
    BackendError
        When llvmlite is missing or does not know what is written for it.
    """

    def __init__(self) -> None:
        try:
            from llvmlite import __version__, binding
        except ImportError as error:
            raise BackendError(
                f"backend 'compiled': expected {OLDEST_COMPILER} or newer to be installed "
                f'(pip install "ne_dynamics[fast]"), got {error}; '
                "backend='python' needs no extra package"
            ) from error
        self.binding = binding
        if not self._is_new_enough():
            raise BackendError(
                f"backend 'compiled': expected {OLDEST_COMPILER} or newer, got llvmlite "
                f"{__version__}; backend='python' needs no extra package"
            )
        try:
            features = binding.get_host_cpu_features().flatten()
        except RuntimeError:
            features = ''
        self.identity = '\n'.join(
            (
                binding.get_default_triple(),
                binding.get_host_cpu_name(),
                features,
                '.'.join(str(part) for part in binding.llvm_version_info),
                sysconfig.get_config_var('SOABI') or sys.version,
            )
        )

    def _is_new_enough(self) -> bool:
        binding = self.binding
        try:
            binding.initialize_native_target()
            binding.initialize_native_asmprinter()
        except RuntimeError:
            pass  # newer releases initialise themselves and say so by this error
        try:
            # LLVM 14 does not only refuse: it writes to stderr.
            if getattr(binding, 'llvm_version_info', (15,))[0] < 15:
                raise RuntimeError('no opaque pointers')
            binding.parse_assembly(_PROBE)
            return hasattr(binding, 'create_pass_builder')
        except RuntimeError:
            return False

    def compile(self, text: str, cpu: str, features: str) -> bytes:
        """Return the object code of a module for a processor."""
        module, machine = self._optimised(text, cpu, features)
        code: bytes = machine.emit_object(module)
        return code

    def assemble(self, text: str, cpu: str, features: str) -> str:
        """Return the assembly text of what :meth:`compile` makes of a module."""
        module, machine = self._optimised(text, cpu, features)
        assembly: str = machine.emit_assembly(module)
        return assembly

    def load(self, code: bytes, symbols: Mapping[str, int], cpu: str, features: str) -> Any:
        """Return object code, linked by LLVM and ready to run.

        Parameters
        ----------
        code : bytes
        symbols : mapping of str to int
            Addresses of everything from outside that the code uses.
        cpu, features : str
        """
        for name, address in symbols.items():
            self.binding.add_symbol(name, address)
        backing = self.binding.parse_assembly('', self.binding.create_context())
        # This memory manager keeps code and constants together, within reach of each other.
        execution = self.binding.create_mcjit_compiler(
            backing, self._target_machine(cpu, features), use_lmm=True
        )
        execution.add_object_file(self.binding.ObjectFileRef.from_data(code))
        execution.finalize_object()
        return execution

    def _target_machine(self, cpu: str, features: str) -> Any:
        """Return the code generator for a processor.

        Constants are addressed relative to the code ('small'): by 64-bit numbers, which is the
        default in memory, each takes an instruction and a register more.
        """
        target = self.binding.Target.from_default_triple()
        return target.create_target_machine(
            cpu=cpu, features=features, opt=3, reloc='pic', codemodel='small', jit=True
        )

    def _optimised(self, text: str, cpu: str, features: str) -> tuple[Any, Any]:
        """Return a module, optimised, and the code generator that it is for."""
        # A context of its own: constants and types live as long as their context.
        module = self.binding.parse_assembly(text, self.binding.create_context())
        module.triple = self.binding.get_default_triple()
        module.verify()
        machine = self._target_machine(cpu, features)
        machine.set_asm_verbosity(False)
        module.data_layout = str(machine.target_data)
        optimise(self.binding, machine, module)
        return module, machine


def optimise(binding: Any, machine: Any, module: Any) -> None:
    """Inline what is marked so; the text is straight-line and folded already.

    More passes took as long as the code generator does, and made no function faster.
    """
    options = binding.create_pipeline_tuning_options(speed_level=0)
    builder = binding.create_pass_builder(machine, options)
    manager = builder.getModulePassManager()
    manager.run(module, builder)
    # llvmlite (0.50 and before) inherits an empty method first and never frees these: 200 KiB.
    dispose = getattr(binding.newpassmanagers.NewPassManager, '_dispose', None)
    if dispose is not None:
        dispose(manager)
        manager.detach()
