"""What keeps private values from showing: a wrapper around one, and a block for work on it."""

from __future__ import annotations

from copy import copy
from typing import Any, Generic, NoReturn, Self, TypeVar, final

from sfumato.errors import EngineError, SfumatoError

__all__ = ["Quiet", "Secret"]

T = TypeVar("T")


@final
class Secret(Generic[T]):
    """A private value that cannot be printed, compared, hashed, copied or pickled.

    Only `sfumato.gate` calls `unseal`; a test of the source tree holds that.

    Examples:
        >>> Secret(268)
        <Secret>
        >>> bool(Secret(268))
        Traceback (most recent call last):
        TypeError: a Secret cannot steer control flow
    """

    __slots__ = ("_value",)

    def __init__(self, value: T) -> None:
        """Seal `value`."""
        self._value = value

    def __repr__(self) -> str:
        """Show nothing, so that logs and tracebacks stay clean."""
        return "<Secret>"

    def __bool__(self) -> NoReturn:
        """Refuse: a branch on a private value is a release."""
        msg = "a Secret cannot steer control flow"
        raise TypeError(msg)

    def __eq__(self, other: object) -> NoReturn:
        """Refuse: so is a comparison."""
        self.__bool__()

    def __hash__(self) -> NoReturn:  # noqa: PLE0309
        """Refuse: a hash is a comparison in disguise."""
        self.__bool__()

    def __reduce__(self) -> Any:
        """Refuse pickling and copying, hence caches and other processes."""
        msg = "a Secret cannot be pickled or copied"
        raise TypeError(msg)

    def unseal(self) -> T:
        """Return the bare value. Call it in `sfumato.gate` and nowhere else."""
        return self._value


@final
class Quiet:
    """A block with private values at hand: whatever stops it carries none of them away.

    The frames of an error hold the variables of the functions that it went through,
    which a notebook or a service may show or keep; so do its cause and its context. A
    user who stops the work is no exception. What is left of it, the same stop or an
    error of one fixed text, is therefore raised anew, outside of the block.

    Args:
        passing: Errors of sfumato that are told in their own words, which name public
            values only.
        failed: What is said of any other error; default that of the engine.

    Examples:
        >>> with Quiet() as work:
        ...     patient = "Jane Doe"
        ...     raise ValueError(patient)
        >>> raise work.stop
        Traceback (most recent call last):
        sfumato.errors.EngineError: [SF301] the engine could not answer; the debit stands
          hint: ask the data owner to read the engine's log
    """

    __slots__ = ("_failed", "_passing", "_stop")

    def __init__(
        self, *passing: type[SfumatoError], failed: SfumatoError | None = None
    ) -> None:
        """Begin; nothing has stopped it yet."""
        self._passing, self._failed = passing, failed or EngineError()
        self._stop: BaseException | None = None

    def __enter__(self) -> Self:
        """Enter the block."""
        return self

    def __exit__(
        self, kind: object, error: BaseException | None, frames: object
    ) -> bool:
        """Keep what may be told of an error, and let go of the rest."""
        if error is not None:
            self._stop = self._anew(error)
        return True

    @property
    def stop(self) -> BaseException:
        """What is left to raise of whatever stopped the block.

        An error of sfumato, whatever the error was, also one of a library that is no
        `Exception`; a `KeyboardInterrupt` of the user; a `SystemExit` of something that
        ends the process, such as a handler of a signal.
        """
        return self._stop or self._failed

    def _anew(self, error: BaseException) -> BaseException:
        if isinstance(error, self._passing):
            return copy(error)  # by its parts
        if isinstance(error, KeyboardInterrupt):
            return KeyboardInterrupt()
        if isinstance(error, SystemExit):
            code = error.code
            return SystemExit(code if code is None or isinstance(code, int) else 1)
        return self._failed
