"""The console's entry: it routes, and nothing else.

Streamlit puts this folder first on the import path, so no module in it may have the name of one of Python's own
(tests/ui/test_launcher.py watches that). The pages lie in ``views``, never in a folder named ``pages``: Streamlit
would run those without this file, and so without the key check, for whoever opens a deep link first.
"""

from __future__ import annotations

import logging
from pathlib import Path

import streamlit as st

from ui import access, states
from ui.client import ApiError

HERE = Path(__file__).parent
PAGES = {
    "Watch": [
        st.Page(
            "views/overview.py",
            title="Overview",
            icon=":material/monitoring:",
            url_path="overview",
            default=True,
        ),
        st.Page("views/topics.py", title="Topics", icon=":material/hub:", url_path="topics"),
        st.Page("views/topic.py", title="Topic", url_path="topic", visibility="hidden"),
    ],
}

st.set_page_config(
    page_title="TopicWeave", page_icon=HERE / "images" / "mark.svg", layout="wide", initial_sidebar_state=220
)
st.html(HERE / "style.css")
st.logo(HERE / "images" / "logo.svg", size="large", icon_image=HERE / "images" / "mark.svg")

if access.key() is None:
    st.navigation(PAGES, position="hidden")
    access.ask()
    st.stop()

page = st.navigation(PAGES)
try:
    page.run()
except ApiError as error:
    states.api_problem(error)
except Exception:
    logging.getLogger("topicweave.console").exception("A page failed")
    states.unexpected()
