"""The operators' console, in Streamlit; it talks to the API only."""
