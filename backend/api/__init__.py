"""The FastAPI app: thin routes that translate HTTP; what they answer comes from the manager's mirror."""

from backend.api.app import create_app

__all__ = ["create_app"]
