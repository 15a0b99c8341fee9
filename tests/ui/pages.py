"""Reading what a page shows, whatever element shows it."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest

from tests.ui.fake_api import FakeApi


def open_page(app: AppTest, name: str, **params: str) -> AppTest:
    """Run a page by its file's name, as a deep link would."""
    app.run()
    app.switch_page(f"views/{name}.py")
    for param, value in params.items():
        app.query_params[param] = value
    app.run()
    assert not app.exception, app.exception
    return app


def said(app: AppTest) -> str:
    """Every sentence on the page."""
    kinds = (
        app.success,
        app.error,
        app.warning,
        app.info,
        app.markdown,
        app.caption,
        app.title,
        app.subheader,
    )
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def metrics(app: AppTest) -> dict[str, str]:
    return {metric.label: str(metric.value) for metric in app.metric}


def names(app: AppTest, column: str = "name") -> list[Any]:
    """A column of the page's first table."""
    return list(app.dataframe[0].value[column])


def last_list(api: FakeApi) -> str:
    """The last call for a page of topics."""
    return next(target for target in reversed(api.asked) if target.startswith("/v1/topics?"))
