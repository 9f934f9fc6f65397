"""Sample and Batch: named tuples in every respect that others rely on."""

import copy
import pickle

import pytest

import mshard
from mshard._sample import sample_types


def test_is_a_named_tuple(ds):
    sample = ds[1]
    image, label = sample
    assert isinstance(sample, tuple) and isinstance(sample, mshard.Sample)
    assert sample._fields == ("image", "label") and len(sample) == 2
    assert sample.image is image and sample[1] == sample.label == label == sample[-1]
    assert list(sample._asdict()) == ["image", "label"]
    assert type(sample).__name__ == "Sample" and not hasattr(sample, "__dict__")
    with pytest.raises(AttributeError):
        sample.label = 2
    with pytest.raises(AttributeError):
        sample.nothing


def test_rebuilding(ds):
    kind = ds.sample_type
    made = kind(*ds[1])  # torch's collate and pin_memory do this
    assert type(made) is kind and made.label == ds[1].label
    assert kind(1, label=2) == kind._make([1, 2]) == (1, 2) and kind(image=1, label=2)._replace(label=3) == (1, 3)
    for wrong in (lambda: kind(1), lambda: kind(1, 2, 3), lambda: kind(1, nothing=2), lambda: kind(1, image=2)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError, match="nothing"):
        kind(1, 2)._replace(nothing=1)


def test_classes_are_shared(one_path, many_path):
    assert mshard.open(one_path).sample_type is mshard.open(many_path).sample_type
    assert sample_types(("a",))[0] is not sample_types(("b",))[0]


def test_pickle_and_copy(ds):
    for sample in (ds[1], ds[0:2], ds[[3]]):
        for other in (pickle.loads(pickle.dumps(sample)), copy.deepcopy(sample), copy.copy(sample)):
            assert type(other) is type(sample) and (other.image == sample.image).all()


def test_hash_and_equality():
    kind = sample_types(("a", "b"))[0]
    assert kind(1, 2) == (1, 2) and hash(kind(1, 2)) == hash((1, 2)) and kind(1, 2) in {(1, 2)}


def test_hash_of_scalars_only(tmp_path):
    with mshard.Writer(tmp_path / "x", {"a": ("int8", ()), "b": ("float32", ())}, sync=False) as w:
        w.write((1, 0.5))
    sample = mshard.open(tmp_path / "x")[0]
    assert hash(sample) == hash((1, 0.5)) and sample in {(1, 0.5)}


def test_repr():
    assert repr(sample_types(("a", "b"))[0](1, "x")) == "Sample(a=1, b='x')"
    assert repr(sample_types(("a", "b"))[1](1, 2)) == "Batch(a=1, b=2)"


def test_match():
    match sample_types(("a", "b"))[0](1, 2):
        case mshard.Sample() as sample:
            assert sample.a == 1
        case _:
            raise AssertionError
