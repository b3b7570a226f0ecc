"""Functions of noisy values and public constants only: free of any privacy cost."""

from sfumato.post.figures import points
from sfumato.post.interval import intervals

__all__ = ["intervals", "points"]
