"""The console's entry: it routes, and nothing else.

Streamlit puts this folder first on the import path, so no module in it may have the name of one of Python's own
(tests/ui/test_launcher.py watches that). The pages lie in ``views``, never in a folder named ``pages``: Streamlit
would run those without this file, and so without the key check, for whoever opens a deep link first.
"""

from __future__ import annotations

import logging
from pathlib import Path

import streamlit as st

from ui import access, dialogs, sidebar, states, visit
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
        st.Page("views/brokers.py", title="Brokers", icon=":material/dns:", url_path="brokers"),
        st.Page("views/broker.py", title="Broker", url_path="broker", visibility="hidden"),
        st.Page("views/history.py", title="History", icon=":material/history:", url_path="history"),
    ],
    "Try": [
        st.Page("views/what_if.py", title="What-if", icon=":material/bolt:", url_path="what-if"),
        st.Page("views/simulator.py", title="Simulator", icon=":material/science:", url_path="simulator"),
    ],
    "Change": [
        st.Page("views/rebuilds.py", title="Rebuilds", icon=":material/construction:", url_path="rebuilds"),
        st.Page("views/rebuild.py", title="Rebuild", url_path="rebuild", visibility="hidden"),
    ],
    "Ask": [
        st.Page("views/queries.py", title="Queries", icon=":material/terminal:", url_path="queries"),
    ],
}

states.begin()
st.set_page_config(
    page_title="TopicWeave", page_icon=HERE / "images" / "mark.svg", layout="wide", initial_sidebar_state=220
)
st.html(HERE / "style.css")
st.logo(HERE / "images" / "logo.svg", size="large", icon_image=HERE / "images" / "mark.svg")

if access.key() is None:
    st.navigation(PAGES, position="hidden")
    access.ask()
    # Whoever comes with the next key did not click.
    visit.forget()
    st.stop()

page = st.navigation(PAGES)
# A page of one thing has its id in the parameter of the page's name.
visit.begin(page.url_path, st.query_params.get(page.url_path))
visit.go()
# A run of the page closes its dialog, unless it opens one.
dialogs.closed()
# The page before the foot of the sidebar: with a slow API each of them waits, and what the page says is waited for.
for part in (page.run, sidebar.show):
    try:
        part()
    except ApiError as error:
        states.api_problem(error)
    except Exception:
        logging.getLogger("topicweave.console").exception("A page failed")
        states.unexpected()
visit.end()
