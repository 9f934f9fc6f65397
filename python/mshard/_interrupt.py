"""Long calls into C that Ctrl-C ends at once.

Python runs signal handlers in the main thread only, and only between byte codes. So the call runs in a thread of its own
while the main thread waits where it can be interrupted.
"""

import threading
from typing import Any, Callable, TypeVar

_T = TypeVar("_T")


class Stop(Exception):
    """Raised in a callback to end the call."""


def interruptible(call: Callable[[Callable[[], None]], _T]) -> _T:
    """call(check), where call runs check() often: it raises Stop once an exception has come up in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return call(lambda: None)
    lock = threading.Lock()
    stopped, finished = threading.Event(), threading.Event()
    outcome: dict[str, Any] = {}

    def check() -> None:
        if stopped.is_set():
            raise Stop

    def work() -> None:
        with lock:
            if stopped.is_set():
                return
            outcome["begun"] = True
        try:
            outcome["value"] = call(check)
        except BaseException as error:
            outcome["error"] = error
        finally:
            finished.set()

    try:
        threading.Thread(target=work, name="mshard", daemon=True).start()
        finished.wait()
    except BaseException:  # may come up inside start(), with the thread running or not
        with lock:
            stopped.set()
        if "begun" in outcome:
            finished.wait()
        raise
    if "error" in outcome:
        try:
            raise outcome["error"]
        finally:
            outcome.clear()  # no cycle of frame and exception
    value: _T = outcome["value"]
    return value
