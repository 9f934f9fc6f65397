"""Long calls: Ctrl-C reaches the main thread at once and stops the call."""

import os
import signal
import threading
import time

import pytest

import mshard
from mshard._interrupt import Stop, interruptible


@pytest.fixture(autouse=True)
def interrupts_reach_python():
    """A shell starts background jobs with SIGINT ignored; Python then has no handler, and Ctrl-C is nobody's."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_values_and_errors_pass():
    assert interruptible(lambda check: check() or 5) == 5

    def fails(check):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        interruptible(fails)


def test_interrupt_stops_the_call():
    outcome = []

    def work(check):
        os.kill(os.getpid(), signal.SIGINT)
        try:
            for _ in range(10000):  # ends by itself, and fails, when the interrupt never comes
                check()
                time.sleep(0.001)
        except Stop:
            outcome.append("stopped")
            raise

    with pytest.raises(KeyboardInterrupt):
        interruptible(work)
    assert outcome == ["stopped"]  # the call had ended before the exception came up


def test_interrupt_during_verify(one_path):
    outcome = []

    def press(done, total):
        if not outcome:
            outcome.append("pressed")
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        mshard.verify(one_path, progress=press)


def test_other_threads_call_directly(one_path):
    results = []
    thread = threading.Thread(target=lambda: results.append(mshard.verify(one_path).ok))
    thread.start()
    thread.join()
    assert results == [True]
