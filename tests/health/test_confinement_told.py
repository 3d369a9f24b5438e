"""What `svc doctor` says of a worker process, by what the system can keep it from."""

from __future__ import annotations

import pytest

from svc.health.tools import confinement

APART = "The worker is a process of its own, which the system keeps from the memory of the service"


@pytest.mark.parametrize(
    ("abi", "state", "says"),
    [
        (0, "warning", f"{APART}, but not from the files of its user"),
        (3, "ok", f"{APART}, all files but its own (Landlock 3)"),
        (7, "ok", f"{APART}, all files but its own and all ports but the internal one (Landlock 7)"),
    ],
)
def test_it_says_what_this_kernel_keeps_a_worker_from(abi: int, state: str, says: str) -> None:
    found = confinement(abi)
    assert (found.state, found.detail) == (state, says)
    assert bool(found.remedy) is (state == "warning")
