"""The stubs: users' code passes a strict checker, and the stubs name what is there."""

import os
import subprocess
import sys

import pytest

import mshard

HERE = os.path.dirname(os.path.abspath(__file__))


def mypy(*arguments, module="mypy"):
    pytest.importorskip("mypy")
    environment = {**os.environ, "MYPYPATH": os.path.dirname(os.path.dirname(mshard.__file__))}
    return subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, env=environment)


def test_users_code(tmp_path):
    done = mypy("--strict", "--cache-dir", str(tmp_path), os.path.join(HERE, "usage_types.py"))
    assert done.returncode == 0, done.stdout


def test_stubs_match(tmp_path):
    done = mypy("mshard._mshard", "--ignore-missing-stub", "--ignore-disjoint-bases", module="mypy.stubtest")
    assert done.returncode == 0, done.stdout


def test_marked_as_typed():
    folder = os.path.dirname(mshard.__file__)
    assert {"py.typed", "_mshard.pyi", "_pack.pyi"} <= set(os.listdir(folder))


def test_everything_is_documented():
    for name in mshard.__all__:
        thing = getattr(mshard, name)
        assert name == "__version__" or thing.__doc__, name
        for member in dir(thing):
            if not member.startswith("_") and isinstance(thing, type) and not issubclass(thing, (tuple, Exception)):
                assert getattr(thing, member).__doc__, f"{name}.{member}"
