"""Topics: which ones are weak? Find, sort, open one."""

from __future__ import annotations

import streamlit as st

from ui import access, client, states, topic_table, url_state
from ui.wording import count

PAGE_ROWS = 50
DEFAULT_SORT = "-subscribers"
SORTS = {
    "-subscribers": "Most subscribers",
    "subscribers": "Fewest subscribers",
    "name": "Name, A to Z",
    "-name": "Name, Z to A",
    "-components": "Most components",
    "components": "Fewest components",
    "-diameter": "Largest diameter",
    "diameter": "Smallest diameter",
    "-articulation_brokers": "Most articulation brokers",
    "articulation_brokers": "Fewest articulation brokers",
}


def sort_by(column: str) -> None:
    """A header was clicked: sort all topics by it, largest first; a second click turns the order round."""
    first = column if column == "name" else f"-{column}"
    second = f"-{column}" if column == "name" else column
    st.session_state["sort"] = second if st.session_state.get("sort") == first else first
    url_state.push("sort", DEFAULT_SORT, "page")


@st.fragment
@states.shown(retry=True)
def found() -> None:
    """Search, order, page and table; a fragment, so that typing redraws nothing else."""
    url_state.sync("q", "", str)
    url_state.sync("sort", DEFAULT_SORT, url_state.one_of(*SORTS))
    url_state.sync("page", 1, url_state.positive)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = st.text_input(
            "Find a topic",
            key="q",
            type="search",
            live="300ms",
            placeholder="Part of its name",
            width=380,
            on_change=url_state.push,
            args=("q", "", "page"),
        )
        sort = st.selectbox(
            "Sort by",
            list(SORTS),
            key="sort",
            format_func=SORTS.__getitem__,
            width=250,
            on_change=url_state.push,
            args=("sort", DEFAULT_SORT, "page"),
        )
    key = access.required_key()
    query = (query or "").strip()
    page = int(st.session_state["page"])
    answer = client.topics(key, query, sort, PAGE_ROWS, (page - 1) * PAGE_ROWS)
    pages = max(1, -(-answer["total"] // PAGE_ROWS))
    if page > pages:
        # A link from before topics went away, or a search that left fewer.
        page = pages
        st.session_state["page"] = page
        answer = client.topics(key, query, sort, PAGE_ROWS, (page - 1) * PAGE_ROWS)
    # Details link back to the list as it was.
    st.session_state["_topics_params"] = st.query_params.to_dict()

    if not answer["items"]:
        if query:
            states.no_match(query)
        else:
            states.no_brokers()
        return
    first = (page - 1) * PAGE_ROWS + 1
    last = first + len(answer["items"]) - 1
    shown = f"{first:,}–{last:,} of " if pages > 1 else ""
    st.caption(
        f"{shown}{count(answer['total'], 'topic')}{' found' if query else ''}. Click a row to open its topic."
    )
    topic_table.show(answer["items"], f"topics-{query}-{sort}-{page}", on_column=sort_by, name_width=340)
    if pages > 1:
        st.pagination(pages, key="page", width=440, on_change=url_state.push, args=("page", 1))


st.title("Topics", anchor=False)
found()
