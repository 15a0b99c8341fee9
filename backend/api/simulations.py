"""Simulations: churn tried on a copy, watched round by round, and applied to the live overlay on request."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from algorithms.churn.simulate import KEEP, LARGEST_KEEP
from backend.api.access import Operator
from backend.api.answers.shape import answered
from backend.api.answers.simulations import Simulation, SimulationList
from backend.api.paths import SimulationId
from backend.simulations import Simulations

router = APIRouter(prefix="/simulations", tags=["simulations"])

LARGEST_SEED = 2**63 - 1
ROUNDS_A_PAGE = 10_000


class Workload(BaseModel):
    """Interests to be generated."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    brokers: int = Field(ge=1, le=200_000)
    topics: int = Field(ge=1, le=100_000)
    subscriptions: int = Field(ge=1, le=10_000, description="of each broker; no more than there are topics")
    distribution: Literal["uniform", "zipf", "exponential"] = "uniform"
    exponent: float | None = Field(None, gt=0, le=20)
    seed: int = Field(0, ge=0, le=LARGEST_SEED)


class SimulationRequest(BaseModel):
    """What is to happen to which overlay, and how it is repaired."""

    model_config = ConfigDict(
        extra="forbid",
        allow_inf_nan=False,
        json_schema_extra={"examples": [{"source": "live", "rounds": 200, "strategy": "weave"}]},
    )
    source: Literal["live", "workload"] = "live"
    workload: Workload | None = None
    rounds: int = Field(200, ge=1)
    join_share: float = Field(0.5, ge=0, le=1)
    subscription_share: float = Field(
        0.0, ge=0, le=1, description="rounds in which a broker changes its topics"
    )
    failure_every: int = Field(100, ge=1)
    failure_share: float = Field(0.0, ge=0, le=1, description="of the brokers that fail at once then")
    newcomers: Literal["workload", "departed"] = "workload"
    strategy: Literal["weave", "shadow", "naive", "rebuild"] = "weave"
    rebuild: Literal["fresh", "sticky"] = "fresh"
    rebuild_every: int | None = Field(None, ge=0)
    keep: float = Field(KEEP, ge=0, le=LARGEST_KEEP)
    k: int = Field(1, ge=1, le=2)
    rho: float = Field(3.0, ge=1)
    lambda_: int = Field(3, ge=1, le=1000, alias="lambda", description="no less than k")
    drift_every: int = Field(50, ge=0)
    seed: int = Field(0, ge=0, le=LARGEST_SEED)

    def options(self) -> dict[str, Any]:
        """The arguments of the simulator."""
        given = self.model_dump(exclude={"source", "workload"})
        given["subscription_churn"] = given.pop("subscription_share")
        given["failures"] = given.pop("failure_share")
        return given


async def _simulations(request: Request) -> Simulations:
    found: Simulations = request.app.state.simulations
    return found


AllSimulations = Annotated[Simulations, Depends(_simulations)]


@router.post("", status_code=202, responses=answered(Simulation, 202, location="where to ask how far it is"))
async def request_simulation(
    caller: Operator, simulations: AllSimulations, wanted: SimulationRequest, response: Response
) -> dict[str, Any]:
    """Queue a simulation; nothing live changes."""
    workload = wanted.workload.model_dump(exclude_none=True) if wanted.workload else None
    simulation = simulations.request(wanted.source, workload, wanted.options(), caller.name)
    simulation.request = wanted.model_dump(by_alias=True)
    response.headers["Location"] = f"/v1/simulations/{simulation.id}"
    return simulation.as_json()


@router.get("", responses=answered(SimulationList))
async def list_simulations(simulations: AllSimulations) -> dict[str, Any]:
    """The simulations that this API process ran, the newest first, without their rounds."""
    return {"items": [simulation.as_json() for simulation in simulations.list()]}


@router.get("/{simulation:id}", responses=answered(Simulation))
async def read_simulation(
    simulations: AllSimulations,
    simulation: SimulationId,
    after: Annotated[int, Query(ge=0, description="only the rounds after this one")] = 0,
    limit: Annotated[
        int, Query(ge=1, le=ROUNDS_A_PAGE, description="at most so many rounds")
    ] = ROUNDS_A_PAGE,
) -> dict[str, Any]:
    """One simulation with its rounds so far: a page of them, and in `next` how many there are."""
    return simulations.find(simulation).as_json(after, limit)


@router.post("/{simulation:id}/apply", status_code=202, responses=answered(Simulation, 202))
async def apply_simulation(
    caller: Operator, simulations: AllSimulations, simulation: SimulationId
) -> dict[str, Any]:
    """Do to the live overlay what was simulated, as ordinary changes by the caller."""
    return simulations.apply(simulation, caller.name).as_json()


@router.delete("/{simulation:id}", responses=answered(Simulation))
async def cancel_simulation(
    _: Operator, simulations: AllSimulations, simulation: SimulationId
) -> dict[str, Any]:
    """Stop it; what was simulated so far stays to be read."""
    return (await simulations.cancel(simulation)).as_json()
