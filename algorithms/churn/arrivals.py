"""Who comes, who goes and who changes its mind: the random changes of a simulation, by seed."""

from __future__ import annotations

import numpy as np

from algorithms.interests import Interests
from algorithms.live import Change, LiveOverlay, join, leave, set_topics


class Arrivals:
    """A source of changes that fit the interests a simulation began with."""

    def __init__(self, interests: Interests, newcomers: str, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._sizes = interests.broker_sizes()
        self._topics = interests.topics
        self._subscribed = interests.subscriptions > 0
        """Whether anybody had a topic; if not, newcomers have none either."""
        self._popularity = interests.topic_sizes() / max(interests.subscriptions, 1)
        self._from_departed = newcomers == "departed"
        self._departed: list[tuple[str, tuple[str, ...]]] = []
        self._present = list(interests.brokers)
        self._arrived = 0

    def happens(self, chance: float) -> bool:
        """A coin that shows heads with that chance."""
        return bool(self._random.random() < chance)

    def arrival(self, live: LiveOverlay) -> Change:
        """A broker that left comes back, or one arrives that is like those of the workload.

        One like those of the workload has as many topics as some broker had at the start, drawn one by one in
        proportion to how many subscribers each had, repeats ignored.
        """
        if self._from_departed and self._departed:
            place = int(self._random.integers(len(self._departed)))
            self._departed[place], self._departed[-1] = self._departed[-1], self._departed[place]
            broker, topics = self._departed.pop()
        else:
            self._arrived += 1
            broker, topics = f"newcomer-{self._arrived}", self._drawn_topics()
            while broker in live:
                self._arrived += 1
                broker = f"newcomer-{self._arrived}"
        self._present.append(broker)
        return join(broker, topics)

    def departure(self, live: LiveOverlay) -> Change:
        """Some broker leaves."""
        place = int(self._random.integers(len(self._present)))
        self._present[place], self._present[-1] = self._present[-1], self._present[place]
        broker = self._present.pop()
        if self._from_departed:
            self._departed.append((broker, tuple(live.topics_of(broker))))
        return leave(broker)

    def failure(self, live: LiveOverlay, share: float) -> list[Change]:
        """A share of the brokers leaves at once; one stays in any case."""
        count = min(max(1, round(share * len(self._present))), len(self._present) - 1)
        return [self.departure(live) for _ in range(count)]

    def change_of_mind(self, live: LiveOverlay) -> Change:
        """Some broker gives one topic up and takes another one."""
        broker = self._present[int(self._random.integers(len(self._present)))]
        topics = live.topics_of(broker)
        if topics:
            topics.pop(int(self._random.integers(len(topics))))
        if self._subscribed:
            topics.append(str(self._random.choice(self._topics, p=self._popularity)))
        return set_topics(broker, dict.fromkeys(topics))

    @property
    def present(self) -> int:
        """How many brokers there are."""
        return len(self._present)

    def _drawn_topics(self) -> tuple[str, ...]:
        size = int(self._random.choice(self._sizes)) if self._subscribed else 0
        if not size:
            return ()
        # The largest of log(u)/p are a draw without replacement: exponential keys, nothing is rejected.
        keys = np.log(self._random.random(len(self._topics))) / self._popularity
        return tuple(self._topics[t] for t in np.argpartition(keys, -size)[-size:])
