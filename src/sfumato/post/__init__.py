"""Functions of noisy values and public constants only: free of any privacy cost."""

from sfumato.post.figures import in_terms, points
from sfumato.post.interval import intervals
from sfumato.post.tell import figures, lacking, measurements, short_by

__all__ = [
    "figures",
    "in_terms",
    "intervals",
    "lacking",
    "measurements",
    "points",
    "short_by",
]
