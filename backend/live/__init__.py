"""The live overlay in this process: the mirror that reads come from, the writer that changes it, the feed of both."""

from backend.live.feed import Feed
from backend.live.mirror import Mirror
from backend.live.proposal import Answer, Proposal
from backend.live.standby import Standby
from backend.live.writer import Writer

__all__ = ["Answer", "Feed", "Mirror", "Proposal", "Standby", "Writer"]
