"""Churn offline: what rounds of joins, leaves and subscriptions do to an overlay, strategy by strategy."""

from algorithms.churn.simulate import Round, Simulation, simulate

__all__ = ["Round", "Simulation", "simulate"]
