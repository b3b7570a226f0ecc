"""The stream: keys, forks, threads, replays."""

import copy
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import sfumato.noise
from sfumato.noise import stream as module
from sfumato.noise.stream import FixedStream, Stream, default, replaced


def test_a_fork_takes_a_new_key():
    """After a fork parent and child never draw the same words."""
    stream = Stream()
    stream.words(10), stream.word()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(
            writer, stream.words(4).tobytes() + stream.word().to_bytes(8, "little")
        )
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(reader, 40)

    ours = stream.words(4).tobytes() + stream.word().to_bytes(8, "little")

    os.close(reader), os.close(writer)
    assert len(theirs) == 40
    assert not {theirs[i : i + 8] for i in range(0, 40, 8)} & {
        ours[i : i + 8] for i in range(0, 40, 8)
    }


def test_a_fork_without_hooks_takes_a_new_key():
    """A host program that forks in C, past Python's hooks, repeats no word either."""
    script = """if True:
        import ctypes, os
        from sfumato.noise.stream import default
        default().words(10), default().word()
        reader, writer = os.pipe()
        child = ctypes.PyDLL(None).fork()
        stream = default()
        words = stream.words(2).tobytes() + stream.word().to_bytes(8, "little")
        if child == 0:
            os.write(writer, words)
            os._exit(0)
        os.waitpid(child, 0)
        print(os.read(reader, 24) == words)
    """

    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert ran.stdout.strip() == "False"


def test_each_thread_has_its_own_stream():
    """Two threads never share a stream, nor a word."""
    seen, words = [], []

    def work():
        seen.append(default())
        words.extend(default().words(1000).tolist())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({id(s) for s in [*seen, default()]}) == 5
    assert len(set(words)) == 4000


def test_keys_are_dropped_on_time(monkeypatch):
    """A bulk key serves 16 MiB, a pool key 4 KiB."""
    keys = []
    fresh = module._fresh_keystream
    monkeypatch.setattr(module, "_fresh_keystream", lambda: keys.append(1) or fresh())
    stream = Stream()

    for _ in range(5):
        stream.words(1 << 20)
    bulk = len(keys)
    for _ in range(1025):
        stream.word()

    assert bulk == 3
    assert len(keys) - bulk == 3


def test_one_key_serves_no_array_alone(monkeypatch):
    """An array larger than 16 MiB takes several keys, and none serves more than that."""
    served = []

    class Counted:
        def __init__(self):
            served.append(0)

        def read_into(self, out):
            served[-1] += len(out)

    monkeypatch.setattr(module, "_fresh_keystream", Counted)
    monkeypatch.setattr(Stream, "rekey_bytes", 1 << 10)
    stream = Stream()

    for count in (100, 1000, 5, 128):
        stream.words(count)

    assert sum(served) == 8 * 1233 and max(served) == 1 << 10


def test_aes_is_counter_mode_over_zeros():
    """The keystream is AES-256-CTR: NIST SP 800-38A, F.5.5, keystream of block 1."""
    key = bytes.fromhex(
        "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
    )
    counter = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    plain = bytes.fromhex("6bc1bee22e409f96e93d7e117393172a")
    cipher = bytes.fromhex("601ec313775789a5b7a7f504bbf3d228")
    out = bytearray(16)

    module._Aes(key, counter).read_into(memoryview(out))

    assert bytes(a ^ b for a, b in zip(out, plain, strict=True)) == cipher


def test_without_aes_the_system_serves(monkeypatch):
    """A missing or broken `cryptography` falls back to os.urandom, once and for all."""
    calls = []

    def broken(*_):
        calls.append(1)
        raise ImportError

    monkeypatch.setattr(module, "_Aes", broken)
    monkeypatch.setattr(module._Epoch, "aes_works", True)
    stream = Stream()

    words = stream.words(100)

    assert len(set(words.tolist())) == 100
    assert stream.word() != stream.word()
    assert len(calls) == 1


@pytest.mark.parametrize("act", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_stream_cannot_be_copied(act):
    """Copies would repeat their noise."""
    with pytest.raises(TypeError, match="cannot be copied"):
        act(Stream())


def test_a_fixed_stream_replays():
    """Same seed, same words; another seed, other words."""
    assert (FixedStream(1).words(9) == FixedStream(1).words(9)).all()
    assert (FixedStream(1).words(9) != FixedStream(2).words(9)).all()
    assert [FixedStream(1).word() for _ in range(2)] == [FixedStream(1).word()] * 2


def test_replaced_is_local_to_its_block_and_thread():
    """`replaced` changes `default` inside the block and in no other thread."""
    others = []
    with replaced(FixedStream(1)) as one:
        assert default() is one
        with replaced(FixedStream(2)) as two:
            assert default() is two
        assert default() is one
        thread = threading.Thread(target=lambda: others.append(default().secure))
        thread.start()
        thread.join()

    assert others == [True]
    assert default().secure


def test_a_replay_repeats_every_law():
    """Under a FixedStream all draws repeat, whatever was drawn before."""

    def run():
        with replaced(FixedStream(11)):
            return [
                sfumato.noise.discrete_laplace(3),
                sfumato.noise.discrete_laplace(3, 1000).tolist(),
                sfumato.noise.discrete_laplace(3, 70_000).sum(),
                sfumato.noise.discrete_gaussian([1.0, 1e9] * 20).tolist(),
                sfumato.noise.rounded_gaussian(np.arange(50.0), 2).tolist(),
                sfumato.noise.rounded_laplace(1.5, 2),
                sfumato.noise.permute_and_flip([1, 2, 3], 1),
            ]

    assert run() == run()


@pytest.mark.parametrize("count", [0, 1, 7, 63, 64, 65, 128, 200])
def test_bits_fill_their_range(count):
    """bits(k) lies in [0, 2**k) and reaches the top and bottom quarter."""
    stream = FixedStream(3)
    values = [stream.bits(count) for _ in range(200)]

    assert all(0 <= v < 1 << count for v in values)
    if count > 2:
        assert min(values) < 1 << (count - 2)
        assert max(values) >= 3 << (count - 2)


@pytest.mark.parametrize("shape", [0, 1, (3, 5), 100_003])
def test_fill_covers_the_whole_array(shape):
    """Every byte of the array is written."""
    out = np.zeros(shape, np.uint8)
    Stream().fill(out)

    if out.size > 1000:
        assert 0.98 < np.count_nonzero(out) / out.size < 1
        assert np.count_nonzero(out[-1000:]) > 900


def test_only_the_stream_is_random():
    """No other module of the package touches a source of randomness."""
    words = ("urandom", "import secrets", "import random", "np.random", "hashlib")
    folder = Path(sfumato.noise.__file__).parent

    found = {
        p.name for p in folder.glob("*.py") if any(w in p.read_text() for w in words)
    }

    assert found == {"stream.py"}
