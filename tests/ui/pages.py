"""Reading what a page shows, whatever element shows it."""

from __future__ import annotations

import json
import re
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button
from streamlit.util import calc_hash

from tests.ui.fake_api import FakeApi
from ui import url_state
from ui.states import FAILED


def open_page(app: AppTest, name: str, **params: str) -> AppTest:
    """Run a page by its name in the URL, as a deep link would: without any other page before."""
    app._page_hash = calc_hash(name)
    if "_visit_kept" in app.session_state:
        # It is no run that comes late.
        app.session_state["_visit_kept"].pop(url_state._REPLACED, None)
    for param, value in params.items():
        app.query_params[param] = value
    app.run()
    assert_well(app)
    return app


def assert_well(app: AppTest) -> None:
    """Neither Streamlit's box nor ours: the console catches what its pages raise, and says so in words."""
    assert not app.exception, app.exception
    failed = [box.value for box in app.error if FAILED in box.value]
    assert not failed, failed


def seen(text: str) -> str:
    """What Markdown makes of words whose signs are set apart by backslashes (ui/wording.py)."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text.replace("\N{WORD JOINER}", ""))


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
    return seen("\n".join(str(element.value) for kind in kinds for element in kind))


def metrics(app: AppTest) -> dict[str, str]:
    return {metric.label: str(metric.value) for metric in app.metric}


def names(app: AppTest, column: str = "name") -> list[Any]:
    """A column of the page's first table."""
    return list(app.dataframe[0].value[column])


def last_list(api: FakeApi) -> str:
    """The last call for a page of topics."""
    return next(target for target in reversed(api.asked) if target.startswith("/v1/topics?"))


def calls(api: FakeApi, start: str) -> list[str]:
    """The calls to one address, in order."""
    return [target for target in api.asked if target.startswith(start)]


def button(app: AppTest, label: str) -> Button:
    """The button with that label."""
    return next(found for found in app.button if found.label == label)


def specification(chart: Any) -> dict[str, Any]:
    """What a chart draws, as Vega-Lite has it."""
    found: dict[str, Any] = json.loads(chart.proto.spec)
    return found
