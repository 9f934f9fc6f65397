"""Long calls: Ctrl-C reaches the main thread at once and stops the call."""

import os
import signal
import threading

import pytest

import mshard
from mshard._interrupt import Stop, interruptible


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
            while True:
                check()
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
