"""The only randomness in the project: AES-256 in counter mode, keyed by the system.

A `Stream` turns keys from `os.urandom` into uniform words. It takes a new key after
16 MiB of output, after a fork, and at each refill of the small pool that serves single
words (so the key of words already served is gone: fast key erasure). One key makes at
most 2**20 AES blocks, so the advantage of telling its output from uniform words is at
most 2**-89 beyond breaking AES itself (PRP/PRF switching lemma).

Without a working `cryptography` package the words come from `os.urandom` directly:
as secure, about twenty times slower per word, half as fast per draw.

What this module does not promise: the pool (4 KiB) and the current bulk key stay in
the memory of the process, so a memory dump shows noise of the near past and future.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, NoReturn, Protocol, TypeVar

import numpy as np

from sfumato.noise.arrays import Words

__all__ = ["FixedStream", "Source", "Stream", "default", "replaced"]

A = TypeVar("A", bound="np.ndarray[Any, Any]")

_BLOCK = 1 << 16
_ZEROS = memoryview(bytes(_BLOCK))
_POOL_BYTES = 4096


class Source(Protocol):
    """What the exact samplers need: uniform integers of any number of bits."""

    grain: int
    """How many bits a lazily read uniform asks for at a time."""

    def bits(self, count: int) -> int:
        """Return a uniform integer in ``[0, 2**count)``."""
        ...


class _Keystream(Protocol):
    def read_into(self, out: memoryview) -> None: ...


class _Aes:
    """AES-256-CTR over zeros."""

    def __init__(self, key: bytes, counter: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        cipher = Cipher(algorithms.AES(key), modes.CTR(counter))
        self._update_into = cipher.encryptor().update_into

    def read_into(self, out: memoryview) -> None:
        for start in range(0, len(out), _BLOCK):
            part = out[start : start + _BLOCK]
            self._update_into(_ZEROS[: len(part)], part)


class _System:
    """The operating system's generator, when AES is not to be had."""

    def read_into(self, out: memoryview) -> None:
        out[:] = os.urandom(len(out))


class _Shake:
    """SHAKE-256 of a seed and a counter: a fixed keystream for replays."""

    def __init__(self, seed: int) -> None:
        self._seed = str(seed).encode() + b":"
        self._counter = 0

    def read_into(self, out: memoryview) -> None:
        name = self._seed + str(self._counter).encode()
        self._counter += 1
        out[:] = hashlib.shake_256(name).digest(len(out))


class _Epoch:
    """A count of forks, and whether AES has ever failed in this process."""

    forks = 0
    pid = os.getpid()
    aes_works = True


def _after_fork() -> None:
    _Epoch.forks += 1
    _Epoch.pid = os.getpid()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _fresh_keystream() -> _Keystream:
    """Return AES under a fresh key; the system's own generator if AES fails."""
    if _Epoch.aes_works:
        try:
            return _Aes(os.urandom(32), os.urandom(16))
        except Exception:  # noqa: BLE001  a broken wheel may raise anything
            _Epoch.aes_works = False
    return _System()


class Stream:
    """Cryptographic uniform words; one object per thread.

    It cannot be copied or pickled, because two copies would repeat their noise.

    Examples:
        >>> stream = Stream()
        >>> 0 <= stream.below(6) < 6
        True
        >>> stream.words(3).shape
        (3,)
    """

    secure: ClassVar[bool] = True
    """Whether releases made with this stream may be called private."""

    rekey_bytes: ClassVar[int] = 1 << 24
    grain: int = 64

    def __init__(self) -> None:
        """Draw no key yet: the first read does."""
        self._forks = -1
        self._left = 0
        self._bulk: _Keystream = _System()
        self._pool: list[int] = []

    def _keystream(self) -> _Keystream:
        return _fresh_keystream()

    def _rekey(self) -> None:
        self._bulk = self._keystream()
        self._left = self.rekey_bytes
        if self._forks != _Epoch.forks:
            self._pool = []
            self._forks = _Epoch.forks

    def fill(self, out: A) -> A:
        """Fill a C-contiguous array with uniform bits, in place, and return it.

        Args:
            out: Array of any unsigned integer type, any shape.
        """
        if out.nbytes:
            whole = out.data.cast("B")
            for start in range(0, out.nbytes, self.rekey_bytes):
                part = whole[start : start + self.rekey_bytes]
                if self._left < len(part) or self._forks != _Epoch.forks:
                    self._rekey()
                self._bulk.read_into(part)
                self._left -= len(part)
        return out

    def words(self, count: int) -> Words:
        """Return `count` uniform 64-bit words, shape ``(count,)``, dtype uint64."""
        return self.fill(np.empty(count, np.uint64))

    def word(self) -> int:
        """Return one uniform 64-bit word as a Python integer."""
        if self._forks != _Epoch.forks:
            self._rekey()
        if not self._pool:
            self._refill()
        return self._pool.pop()

    def _refill(self) -> None:
        buffer = bytearray(_POOL_BYTES)
        self._keystream().read_into(memoryview(buffer))
        self._pool = np.frombuffer(buffer, np.uint64).tolist()

    def bits(self, count: int) -> int:
        """Return a uniform Python integer in ``[0, 2**count)``, `count` >= 0."""
        if count <= 64:  # noqa: PLR2004  one word is enough
            return self.word() >> (64 - count)
        value = 0
        for _ in range(-(-count // 64)):
            value = value << 64 | self.word()
        return value >> (-count % 64)

    def below(self, bound: int) -> int:
        """Return a uniform Python integer in ``[0, bound)``, exactly, by rejection."""
        count = (bound - 1).bit_length()
        while True:
            value = self.bits(count) if count else 0
            if value < bound:
                return value

    def __reduce__(self) -> NoReturn:
        """Refuse to pickle or copy."""
        msg = "a stream of randomness cannot be copied or pickled"
        raise TypeError(msg)


class FixedStream(Stream):
    """A stream that replays the same words for the same seed: tests only, not private.

    Examples:
        >>> FixedStream(7).bits(20) == FixedStream(7).bits(20)
        True
        >>> FixedStream(7).secure
        False
    """

    secure = False

    def __init__(self, seed: int) -> None:
        """Start at the beginning of the words of `seed`."""
        super().__init__()
        self._fixed = _Shake(seed)

    def _keystream(self) -> _Keystream:
        return self._fixed


class _PerThread(threading.local):
    def __init__(self) -> None:
        self.stream = Stream()


_own = _PerThread()
_replacement: ContextVar[Stream | None] = ContextVar("replacement", default=None)


def default() -> Stream:
    """Return the stream of this thread, or the one that `replaced` put in its place."""
    if os.getpid() != _Epoch.pid:  # forked by a library that runs no Python hooks
        _after_fork()
    stream = _replacement.get()
    return _own.stream if stream is None else stream


@contextmanager
def replaced(stream: Stream) -> Iterator[Stream]:
    """Make `default` return `stream` inside a ``with`` block, in this context only.

    Examples:
        >>> with replaced(FixedStream(7)) as stream:
        ...     default() is stream
        True
        >>> default().secure
        True
    """
    token = _replacement.set(stream)
    try:
        yield stream
    finally:
        _replacement.reset(token)
