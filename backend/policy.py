"""The policy of the live overlay: what is promised, how repairs choose links, and when operators are warned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from algorithms import algorithms, live
from algorithms.errors import BadInput
from backend.errors import Conflict


class PolicyMoved(Conflict):
    """Links were found for one k, and the policy promises another by now."""

    def __init__(self, found_for: int, now: int) -> None:
        super().__init__(
            f"k: the policy went from {found_for} to {now} while the links were found; ask again", field="k"
        )
        self.values = found_for, now

    def __reduce__(self) -> tuple[type[PolicyMoved], tuple[int, int]]:
        """It may come from another process."""
        return type(self), self.values


@dataclass(frozen=True)
class Policy:
    """Stored as properties of the Overlay node; ``lambda`` has no underscore there and in JSON."""

    k: int = 1
    """Every topic stays connected whatever k - 1 brokers fail: 1 or 2."""
    strategy: live.plan.Strategy = "weave"
    """How a repair chooses links."""
    rho: float = 3.0
    """A link may raise the maximum degree when it is worth more than rho times as much as one that does not."""
    lambda_: int = 3
    """How often backups cover each topic of their broker."""
    algorithm: str = "weave"
    """What builds the first overlay of an import, and what a rebuild uses by default."""
    settle_seconds: float = 30.0
    """How long a link that is to be closed waits for agents that do not acknowledge its replacements."""
    lease_brake: float = 0.2
    """When more than this share of the brokers would expire within a minute, none does: the fault is likely ours."""
    drift_threshold: float = 0.3
    """A degree so far above a fresh build's marks "rebuild advised"."""

    def __post_init__(self) -> None:
        self.repairs()
        known = [algorithm.name for algorithm in algorithms()]
        if self.algorithm not in known:
            raise BadInput("algorithm", self.algorithm, f"must be one of {', '.join(known)}")
        for name, low, high in (
            ("settle_seconds", 0, 86_400),
            ("lease_brake", 0, 1),
            ("drift_threshold", 0, 100),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
                raise BadInput(name, value, f"must be a number, at least {low} and at most {high}")

    def repairs(self) -> live.Policy:
        """The part that the live overlay itself follows."""
        return live.Policy(strategy=self.strategy, k=self.k, rho=self.rho, lambda_=self.lambda_)

    def properties(self) -> dict[str, Any]:
        """The policy as properties of the Overlay node and as JSON."""
        return {name.rstrip("_"): value for name, value in asdict(self).items()}

    def changed(self, values: Mapping[str, Any]) -> Policy:
        """This policy with some values replaced; an unknown name or a bad value is named."""
        names = {field.name.rstrip("_"): field.name for field in fields(self)}
        for name in values:
            if name not in names:
                raise BadInput(name, values[name], f"is not part of the policy ({', '.join(names)})")
        return replace(self, **{names[name]: value for name, value in values.items()})

    @classmethod
    def from_properties(cls, values: Mapping[str, Any]) -> Self:
        """The policy that a node or a JSON object holds; what it does not name keeps its default."""
        names = {field.name.rstrip("_"): field.name for field in fields(cls)}
        return cls(**{names[name]: value for name, value in values.items() if name in names})
