"""The site of doc/: made without a warning, every link leads somewhere, a browser shows it."""

import functools
import re
import shutil
import subprocess
import sys
import threading
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest

pytest.importorskip('sphinx', reason='sphinx is missing: make docs brings it')
pytest.importorskip('myst_parser', reason='myst-parser is missing: make docs brings it')

ROOT = Path(__file__).resolve().parents[2]
BROWSER = shutil.which('chromium') or shutil.which('google-chrome')


@pytest.fixture(scope='module')
def site(tmp_path_factory):
    """Return the folder of the site, made anew; a warning is an error."""
    tree = tmp_path_factory.mktemp('tree')
    made_before = shutil.ignore_patterns('_build', 'generated')
    shutil.copytree(ROOT / 'doc', tree / 'doc', ignore=made_before)
    shutil.copy(ROOT / 'package.xml', tree)
    out = tree / 'html'
    command = [sys.executable, '-m', 'sphinx', '-W', '--keep-going', '-q', '-b', 'html']
    made = subprocess.run(
        [*command, tree / 'doc', out], capture_output=True, text=True, timeout=600, check=False
    )
    assert made.returncode == 0, made.stderr
    return out


class _Links(HTMLParser):
    """Collects what a page leads to, loads and can be led to."""

    def __init__(self):
        super().__init__()
        self.targets, self.loaded, self.anchors = [], [], set()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get('id'):
            self.anchors.add(values['id'])
        if tag == 'a' and values.get('href'):
            self.targets.append(values['href'])
        if tag in ('script', 'img', 'link') and (values.get('src') or values.get('href')):
            self.loaded.append(values.get('src') or values.get('href'))


@pytest.fixture(scope='module')
def pages(site):
    """Return the links of each page."""
    found = {}
    for path in site.rglob('*.html'):
        links = _Links()
        links.feed(path.read_text(encoding='utf-8'))
        found[path.resolve()] = links
    return found


def test_every_link_and_anchor_leads_somewhere(pages):
    assert len(pages) > 40
    broken = []
    for path, links in pages.items():
        for target in (*links.targets, *links.loaded):
            if re.match(r'[a-z]+:', target):
                continue
            file, _, anchor = unquote(target.partition('?')[0]).partition('#')
            place = (path.parent / file).resolve() if file else path
            if not place.exists() or (
                anchor and place in pages and anchor not in pages[place].anchors
            ):
                broken.append(f'{path.name}: {target}')
        broken += [f'{path.name}: {one}' for one in links.loaded if one.startswith(('http', '//'))]
    assert not broken


def test_every_page_of_doc_is_reached(site):
    for path in (ROOT / 'doc').glob('*.md'):
        assert (site / f'{path.stem}.html').is_file(), path.name


class _Quiet(SimpleHTTPRequestHandler):
    """Serves files without a word."""

    def log_message(self, *_):
        """Say nothing."""


def browse(page, *options):
    """Return what a browser makes of a page, and what its console says."""
    command = [BROWSER, '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
    command += ['--enable-logging=stderr', '--virtual-time-budget=20000', '--dump-dom', *options]
    ended = subprocess.run(
        [*command, page], capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    errors = [line for line in ended.stderr.splitlines() if 'CONSOLE' in line and 'rror' in line]
    return ended.stdout, errors


@pytest.mark.skipif(BROWSER is None, reason='chromium is missing')
@pytest.mark.parametrize('name', ['index', 'api', 'failure_behaviour', 'generated/command_line'])
def test_a_browser_shows_it_without_an_error(site, name):
    text, errors = browse(f'file://{site}/{name}.html')
    assert '</html>' in text
    assert errors == []


@pytest.mark.skipif(BROWSER is None, reason='chromium is missing')
def test_the_search_finds_a_function(site):
    handler = functools.partial(_Quiet, directory=str(site))
    with ThreadingHTTPServer(('127.0.0.1', 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f'http://127.0.0.1:{server.server_port}'
        text, errors = browse(f'{address}/search.html?q=inverse_dynamics')
        server.shutdown()
    assert errors == []
    assert 'Dynamics.inverse_dynamics' in text


@pytest.mark.skipif(BROWSER is None, reason='chromium is missing')
@pytest.mark.parametrize('name', ['index', 'library', 'failure_behaviour', 'tutorial_python'])
def test_a_phone_needs_no_scrolling_to_the_side(site, name):
    page = site / f'{name}.html'
    probe = page.with_name(f'{page.stem}_probe.html')
    script = '<script>document.title = document.documentElement.scrollWidth</script></body>'
    probe.write_text(page.read_text(encoding='utf-8').replace('</body>', script))
    text, _ = browse(f'file://{probe}', '--window-size=500,900')
    probe.unlink()
    assert int(re.search(r'<title>(\d+)</title>', text)[1]) <= 500
