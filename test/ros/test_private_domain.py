"""Processes that ask for a domain get one each, and give it back when they end."""

from __future__ import annotations

import subprocess
import sys

from ne_dynamics.ros.running import private_domain as module
from ne_dynamics.ros.running.private_domain import DOMAINS, FIRST_DOMAIN, private_domain

ASK = (
    'import sys; from ne_dynamics.ros.running.private_domain import private_domain; '
    'print(private_domain(), flush=True); sys.stdin.read()'
)


def test_every_process_has_its_own() -> None:
    """Also where their ids would choose the same, and again and again in one process."""
    asked = [
        subprocess.Popen(
            [sys.executable, '-c', ASK],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(5)
    ]
    domains = [int(process.stdout.readline()) for process in asked]
    assert len({private_domain(), *domains}) == 6
    assert private_domain() == private_domain()
    assert all(FIRST_DOMAIN <= domain < FIRST_DOMAIN + DOMAINS for domain in domains)
    for process in asked:
        process.communicate('')


def test_a_taken_domain_is_passed_over_and_given_back(monkeypatch) -> None:
    """Who has the same process id gets the next one, and the first again when it is free."""
    monkeypatch.setattr(module, '_held', [])
    monkeypatch.setattr(module.os, 'getpid', lambda: 7)
    ask = private_domain.__wrapped__
    first, second = ask(), ask()
    assert first != second
    module._held[0].close()
    assert ask() == first
