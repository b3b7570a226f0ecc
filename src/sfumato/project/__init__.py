"""The TOML project file: declarations, releases and outputs in one readable place."""

from sfumato.project.load import Asked, Format, Project, json_schema, load, total_cost

__all__ = ["Asked", "Format", "Project", "json_schema", "load", "total_cost"]
