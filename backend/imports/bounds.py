"""What files may hold: the limits that every request obeys hold for what comes in bulk, too."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from algorithms import Interests
from algorithms.errors import shown
from backend.errors import BadValue
from backend.settings import Settings


@dataclass(frozen=True)
class Bounds:
    """The limits of an installation on what one broker may be called, and may follow."""

    id_length: int
    broker_topics: int

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Those that the settings name."""
        return cls(settings.max_id_length, settings.max_broker_topics)

    def check(self, interests: Interests, file: Path) -> None:
        """Refuse interests that the API would not take one by one."""
        for field, names in (("broker", interests.brokers), ("topic", interests.topics)):
            longest = max(names, key=len, default="")
            if len(longest) > self.id_length:
                raise BadValue(
                    f"{file}, {field}: an id has at most {self.id_length} characters here "
                    f"(TOPICWEAVE_MAX_ID_LENGTH; got {shown(longest)})",
                    field=field,
                )
        sizes = interests.broker_sizes()
        if sizes.max(initial=0) > self.broker_topics:
            most = int(sizes.argmax())
            raise BadValue(
                f"{file}, topic: at most {self.broker_topics} topics a broker (TOPICWEAVE_MAX_BROKER_TOPICS; "
                f"{interests.brokers[most]!r} has {sizes[most]})",
                field="topic",
            )
