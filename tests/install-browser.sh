#!/bin/sh
# The browser tests need Chromium; where this user may install packages with apt, do it, else say what is needed.
set -eu
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing Chromium for the browser tests (apt-get install chromium)"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y chromium >/dev/null
else
    echo "The browser tests need Chromium: install the package chromium, or put google-chrome on the PATH" >&2
    exit 1
fi
