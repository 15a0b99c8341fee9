"""The past of the overlay: its changes, older versions, differences and trend; and how long all that is kept."""

from backend.history.difference import Difference
from backend.history.history import History

__all__ = ["Difference", "History"]
