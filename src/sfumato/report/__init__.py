"""Pictures and pages of releases: English or Chinese, offline, no script.

Matplotlib and Jinja2 are imported when something is drawn, not before.
"""

from sfumato.report.owner import owner_html, owner_plot
from sfumato.report.page import to_html
from sfumato.report.plot import plot

__all__ = ["owner_html", "owner_plot", "plot", "to_html"]
