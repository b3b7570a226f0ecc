"""A wrapper that marks a value as computed from private rows, before noise."""

from __future__ import annotations

from typing import Any, Generic, NoReturn, TypeVar, final

__all__ = ["Secret"]

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
