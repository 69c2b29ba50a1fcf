"""A server for a test, and a browser for all of them."""

import shutil

import pytest

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


@pytest.fixture
def serve():
    """Return what serves a session, and ends the servers when the test is over."""
    pytest.importorskip("starlette", reason="the extra explore is not installed")
    pytest.importorskip("uvicorn", reason="the extra explore is not installed")
    from mqsel.explorer.server import Explorer

    servers = []

    def start(session, **more):
        servers.append(Explorer(session, **more))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(scope="session")
def browser():
    """Return Chromium, driven by Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the page needs Playwright, of the extra dev")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("the page needs Chromium: apt-get install chromium")
    with playwright.sync_playwright() as running:
        made = running.chromium.launch(executable_path=chromium, args=FLAGS)
        yield made
        made.close()
