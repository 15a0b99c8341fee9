"""Which API key this session speaks with, and so who acts and what may be changed.

On the machine itself the key of the home directory is used straight away: whoever reaches the console over
loopback is at that machine, and ``topicweave up`` made key and console for the same person. From anywhere else,
and without a key file, the key is asked for. A key lives in the session's memory only: never in the URL, never in
a cookie, so a reload asks again.
"""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path

import streamlit as st

from ui import client
from ui.answers import Identity
from ui.wording import plain

_KEY = "_api_key"
_REFUSED = "_api_key_refused"
_ANOTHER = "_api_key_another"


def is_loopback(ip_address: str | None, host: str | None) -> bool:
    """Whether a request comes from this machine and was meant for it.

    Both must hold. The address alone would let any web page in through a name that resolves to 127.0.0.1 (DNS
    rebinding) and anybody in through a proxy on this machine; the Host header alone is the caller's own word.
    Streamlit gives the loopback address as None.
    """
    if ip_address is not None and not _is_loopback_ip(ip_address):
        return False
    if not host:
        return False
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    return name == "localhost" or _is_loopback_ip(name.strip("[]"))


def _is_loopback_ip(text: str) -> bool:
    try:
        return ipaddress.ip_address(text).is_loopback
    except ValueError:
        return False


def request_is_local() -> bool:
    """Whether the browser of this session is on this machine."""
    return is_loopback(st.context.ip_address, st.context.headers.get("Host"))


def home_key() -> str | None:
    """The key in TOPICWEAVE_API_KEY_FILE, read again each time: a new key needs no restart."""
    path = os.environ.get("TOPICWEAVE_API_KEY_FILE")
    if not path:
        return None
    try:
        return Path(path).read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


def key() -> str | None:
    """The key of this session, or None when it must be asked for."""
    given: str | None = st.session_state.get(_KEY)
    if given is not None:
        return given
    return None if st.session_state.get(_ANOTHER) else offered_key()


def offered_key() -> str | None:
    """The home's own key, where it may be used: on this machine, and unless the API refused it."""
    found = home_key()
    if found is None or found == st.session_state.get(_REFUSED) or not request_is_local():
        return None
    return found


def identity() -> Identity | None:
    """Whose key it is; None while the API does not say."""
    found = key()
    if found is None:
        return None
    try:
        return client.me(found)
    except client.ApiError as error:
        if error.status == 401:
            raise
        return None


def may_change() -> bool:
    """Whether to offer what changes the overlay or runs jobs; the API decides again when it is asked."""
    known = identity()
    return known is not None and known["scope"] in ("operate", "admin")


def forget() -> None:
    """Ask for another key."""
    st.session_state.pop(_KEY, None)
    st.session_state[_ANOTHER] = True


def required_key() -> str:
    """The key, on pages that app.py runs only when there is one."""
    found = key()
    if found is None:
        raise client.ApiError("No API key", "Reload the page and give a key.", 401)
    return found


def refuse(bad: str | None) -> None:
    """The API refused this key: do not use it again in this session."""
    st.session_state.pop(_KEY, None)
    st.session_state[_REFUSED] = bad


def ask() -> None:
    """The key form, and nothing else: without a key there is nothing to show."""
    st.title("TopicWeave")
    if st.session_state.get(_REFUSED) is not None:
        st.warning("The API refused the key. It may have been replaced.", icon=":material/key_off:")
    with st.form("key", border=True, width=520):
        given = st.text_input("API key", type="password", key="_key_field", autocomplete="off")
        if st.form_submit_button("Open the console", type="primary"):
            _try(given or "")
    st.caption("The key's name is the actor in the history of whatever you change.")
    if offered_key() is not None:
        if st.button("Use this home's key", icon=":material/home:"):
            st.session_state.pop(_ANOTHER, None)
            st.rerun()
    else:
        st.caption("`topicweave up` writes the key it made to the file `api-key` in its home directory.")


def _try(given: str) -> None:
    given = given.strip()
    if not given:
        st.error("Paste the key first.")
        return
    if not given.isascii() or not given.isprintable():
        # A header cannot carry it; the key was pasted with something else.
        st.error("A key has letters, digits and signs of plain ASCII only.")
        return
    try:
        client.me(given)
    except client.ApiError as error:
        if error.status == 401:
            st.error("The API refused this key.")
            return
        if not error.passes:
            st.error(plain(f"{error.title}. {error.detail}"))
            return
        # The API is away: keep the key, the pages say so and try again by themselves.
    st.session_state[_KEY] = given
    st.session_state.pop(_REFUSED, None)
    st.session_state.pop(_ANOTHER, None)
    st.rerun()
