"""A run's last parts are heard before the next one begins: on Streamlit's own session, with its own runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ui.processes import ROOT

PAGE = """
import streamlit as st

@st.fragment
def clock():
    st.caption("tick")

clock()
for i in range(50):
    st.caption(f"part {i}")
"""

ALONE = """
import asyncio, sys
from pathlib import Path
from streamlit import config
config.set_option("server.fileWatcherType", "none")
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime import Runtime, RuntimeConfig
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.script_data import ScriptData
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from ui import last_words

async def idle(session):
    while session._scriptrunner is not None:
        await asyncio.sleep(0.01)

async def main(page):
    files = MemoryUploadedFileManager("/files")
    Runtime(RuntimeConfig(page, None, MemoryMediaFileStorage("/media"), files))
    session = AppSession(ScriptData(page, False), files, ScriptCache(), None, {})
    session.request_rerun(None)
    # The loop is busy until the run is over: nothing of it is heard yet. Then the page's timer is the first to ask.
    session._scriptrunner._script_thread.join()
    session.request_rerun(ClientState(fragment_id=next(iter(session._fragment_storage._fragments))))
    await asyncio.sleep(0.2)
    await idle(session)
    said = [m.delta.new_element.markdown.body for m in session.flush_browser_queue() if m.HasField("delta")]
    print(sum(text.startswith("part") for text in said), said.count("tick"))

if sys.argv[2] == "awaited":
    last_words.await_them()
asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.parametrize(("how", "heard"), [("awaited", "50 1"), ("as Streamlit does", "0 1")])
def test_what_a_run_says_last_is_heard_before_a_timer_begins_the_next(
    tmp_path: Path, how: str, heard: str
) -> None:
    """The second case is Streamlit's own: where it hears all by itself, ui/last_words.py is to be deleted."""
    page = tmp_path / "page.py"
    page.write_text(PAGE)
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(page), how],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.split("\n")[0] == heard, done.stdout + done.stderr
