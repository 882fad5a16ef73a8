"""The package and the page for browsers: every filter equals the command line, and the page shows grain."""

import base64
import contextlib
import functools
import http.server
import json
import shutil
import subprocess
import sys
import threading
import time
import urllib.request

from common import CLI, FRAMES, HEIGHT, ROOT, WIDTH, WORK, Checks, Clip, chain_of, expected, interleaved, trials

sys.path.insert(0, str(ROOT / "filters/hosts/web"))
import build  # noqa: E402

check = Checks("WebAssembly")
# Their trials name files, of which a page has none.
FILES = ["sprites", "overlay", "lut"]


def node(jobs, asks):
    line = ["node", ROOT / "tests/hosts/web.mjs", build.PACKAGE]
    done = subprocess.run(line, input=json.dumps({"jobs": jobs, "asks": asks}), capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def frames(clip):
    """The frames of a clip as files of R, G, B and A; without alpha as full."""
    files = []
    for n, (g, b, r, *a) in enumerate(clip.frames):
        file = WORK / f"{clip.name}.{n}.rgba"
        file.write_bytes(interleaved([r, g, b, a[0] if a else b"\xff" * len(g)], 1))
        files.append(str(file))
    return files


def filters():
    clips = [Clip("rgb8"), Clip("rgba8")]
    tried = {name: trial for name, trial in trials().items() if name not in FILES}
    wanted = expected(clips, tried, resizing=True)
    jobs, names = [], []
    for clip in clips:
        size = {"width": WIDTH, "height": HEIGHT, "alpha": clip.name == "rgba8", "frames": frames(clip)}
        jobs += [size | {"chain": chain_of(name, tried[name])} for own, name in wanted if own == clip.name]
        names += [key for key in wanted if key[0] == clip.name]
    seeded = "noise=strength=20,grain=preset=16mm"
    jobs.append(jobs[0] | {"chain": seeded, "seed": "18446744073709551615"})
    jobs.append(jobs[0] | {"chain": "noise=strength='0=1;9*=2'"})
    jobs.append(jobs[0] | {"chain": "noise", "width": 95})
    jobs.append(jobs[0] | {"chain": "scale=width=16000:height=16000"})
    asks = [
        ["catalog"],
        ["check", {"steps": [{"name": "grain", "values": {"size": "x"}}, {"name": "lut", "values": {"file": "a.cube"}}]}],
        ["check", "noize"],
        ["looks"],
    ]
    made = node(jobs, asks)
    for key, got in zip(names, made["hashes"]):
        check.equal(f"{key[1]} on {key[0]}", got, wanted[key])
    whole, curve, short, large = made["hashes"][len(names) :]
    check.equal("a seed", whole, clips[0].hashes(seeded, "--seed", "18446744073709551615"))
    check.true(f"a place in a chain: {curve}", curve["error"]["span"]["start"] == 21)
    check.true(f"too few bytes: {short}", "24320 bytes" in short["error"]["text"])
    check.true(f"too large: {large}", "7680x4320" in large["error"]["text"])
    catalog, faults, unknown, looks = made["answers"]
    told = subprocess.run([CLI, "filters", "--json"], capture_output=True, text=True, check=True).stdout
    check.equal("the catalog", catalog, json.loads(told))
    check.equal("places of faults", [(f["step"], f["setting"]) for f in faults["faults"]], [(0, "size"), (1, "file")])
    check.true(f"an unknown filter: {unknown}", "noise" in unknown["error"]["text"])
    check.true("looks", any(look["name"] == "vhs" for look in looks))


class Browser:
    """A headless Chromium, as far as it is needed here."""

    def __init__(self, port):
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.url = f"http://127.0.0.1:{port}/session"
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,900"]}
        for attempt in range(100):
            try:
                value = self.call("", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})
                break
            except urllib.error.URLError:
                time.sleep(0.1)
        self.url += f"/{value['sessionId']}"

    def call(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def run(self, script):
        return self.call("/execute/sync", {"script": script, "args": []})

    def until(self, script):
        end = time.monotonic() + 60
        while not (found := self.run(f"return {script}")):
            if time.monotonic() > end:
                raise AssertionError(f"not within a minute: {script}")
            time.sleep(0.05)
        return found

    def cdp(self, name, values):
        return self.call("/goog/cdp/execute", {"cmd": name, "params": values})

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("/screenshot")))

    def end(self):
        request = urllib.request.Request(self.url, method="DELETE")
        urllib.request.urlopen(request, timeout=60)
        self.driver.terminate()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


# How much the pixels of a row of the result differ from their neighbours: the picture itself is smooth.
SPREAD = """(() => {
  const canvas = document.querySelector('.pane');
  const c = canvas.getContext('2d');
  const { data } = c.getImageData(canvas.width * 3 / 4, canvas.height / 2, 64, 1);
  let sum = 0;
  for (let i = 4; i < data.length; i += 4) sum += Math.abs(data[i] - data[i - 4]);
  return sum / 63;
})()"""


def grain_comes_and_goes(b, show):
    """Grain is seen, and the command line copied."""
    show("#grain=preset=35mm:strength=20")
    b.until(f"{SPREAD} > 4")
    b.run("window.copied = ''; navigator.clipboard.writeText = async (text) => (window.copied = text)")
    b.run("[...document.querySelectorAll('#bar button')].find((b) => b.textContent.includes('command')).click()")
    copied = b.until("window.copied")
    assert copied == "grainfield render INPUT INPUT-grain.mkv --codec libx264 --crf 16 --pix-fmt yuv420p --codec-opt tune=grain -f grain=preset=35mm:strength=20", copied
    b.run("document.querySelector('#filters li .icon').click()")
    b.until(f"{SPREAD} < 4")


def a_sample_is_a_device_pixel(b, show):
    screen = {"width": 700, "height": 500, "deviceScaleFactor": 2, "mobile": False}
    b.cdp("Emulation.setDeviceMetricsOverride", screen)
    show()
    b.until("document.querySelector('.pane').width === 2 * document.querySelector('.pane').clientWidth")
    b.cdp("Emulation.clearDeviceMetricsOverride", {})


# Types a value of the chosen filter, and copies what a button of the bar gives.
TYPE = """((id, text) => {
  const field = document.querySelector(`[data-setting=${id}] input.text, [data-setting=${id}] input.number`);
  field.value = text;
  field.dispatchEvent(new Event('change'));
})"""
COPIED = """(async (name) => {
  window.copied = '';
  navigator.clipboard.writeText = async (text) => (window.copied = text);
  [...document.querySelectorAll('#bar button')].find((b) => b.textContent.includes(name)).click();
})"""


def the_address_keeps_the_chain(b, show):
    show("#grain=preset=35mm,levels=gamma=1.1")
    b.run(f"{TYPE}('strength', '9')")
    b.until("decodeURIComponent(location.hash) === '#grain=preset=35mm:strength=9,levels=gamma=1.1'")
    b.run(f"{COPIED}('link')")
    copied = b.until("window.copied")
    assert copied.endswith("#grain=preset=35mm:strength=9,levels=gamma=1.1"), copied
    # What a chain has no words for stays, too: a filter that is off.
    b.run("document.querySelector('#filters li input').click()")
    b.until("location.hash === '#levels=gamma=1.1'")
    b.call("/refresh", {})
    b.until("document.body.dataset.ready === 'true'")
    b.until("document.querySelectorAll('#filters li.off').length === 1")
    b.run("location.hash = '#invert'")
    b.until("document.querySelector('#filters li .name').textContent === 'Invert'")
    b.call("/back", {})
    b.until("document.querySelectorAll('#filters li.off').length === 1")


def the_beginning_cannot_be_undone(b, show):
    show()
    assert b.run("return document.querySelector('[aria-label=Undo]').disabled")


def a_setting_with_an_error_is_not_left_out(b, show):
    show("#grain=strength=10")
    b.run(f"{TYPE}('strength', '500')")
    b.until("document.querySelector('.fault')")
    b.run("HTMLAnchorElement.prototype.click = () => (window.saved = true)")
    for name in ("command", "link", "Save"):
        b.run("document.querySelectorAll('#toasts p').forEach((p) => p.click())")
        b.run(f"{COPIED}('{name}')")
        b.until("document.querySelector('#toasts .bad')?.textContent.includes('500')")
        assert not b.run("return window.copied || window.saved"), name


def a_valid_text_replaces_a_broken_one(b, show):
    show("#grain=strength=10")
    for broken in ("0=0;x=12", "5=0;2=0.3"):
        b.run(f"{TYPE}('strength', '{broken}')")
        b.until("document.querySelector('[data-setting=strength] .fault')")
        assert b.run("return document.querySelector('[data-setting=strength] input').value") == broken
        b.run(f"{TYPE}('strength', '7')")
        b.until("location.hash === '#grain=strength=7'")


def filters_are_found_by_their_names(b, show):
    show()
    b.run("[...document.querySelectorAll('#filters .add')].at(-1).click()")

    def search(text):
        b.run(f"""const field = document.querySelector('dialog .search');
            field.value = '{text}';
            field.dispatchEvent(new Event('input'));""")

    wanted = {"lut": "lut", "35mm": "grain-35mm", "rain": "particles-rain", "8mm": "grain-super8", "Film": "grain", "sand": "sand"}
    for typed, found in wanted.items():
        search(typed)
        first = b.run("return document.querySelector('dialog [role=option]')?.id")
        assert first == f"choice-{found}", (typed, first)
    for typed in ("%", "qqq"):
        search(typed)
        b.until(f"document.querySelector('dialog').textContent.includes('Nothing found for ‘{typed}’')")


DROP = """((name, type, text) => {
  const data = new DataTransfer();
  data.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name, { type }));
  document.dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
})"""


def drop(b, path, kind):
    b.run(f"{DROP}('{path.name}', '{kind}', '{base64.b64encode(path.read_bytes()).decode()}')")
    b.until(f"document.querySelector('[data-fps]').textContent.includes('{path.name}')")


def clips_have_their_rate_and_length(b, show):
    show()
    for rate, told in {"30000/1001": "29.97", "24": "24"}.items():
        clip = WORK / f"at{told}.webm"
        # Sound that is longer than the picture.
        picture = f"testsrc2=size=160x90:rate={rate},trim=end_frame=50"
        line = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", "sine=duration=2.3"]
        subprocess.run([*line, "-c:v", "libvpx", "-c:a", "libvorbis", clip], check=True)
        drop(b, clip, "video/webm")
        fps = b.run("return document.querySelector('[data-fps]').textContent")
        last = b.run("return document.querySelector('.frames').max")
        assert f", {told} fps" in fps and last == "49", (fps, last)
    b.run(f"{COPIED}('command')")
    b.until("document.querySelector('#toasts').textContent.includes('YUV')")


def a_clip_that_plays_names_no_key_frames(b, show):
    # The filters are slower than the clip.
    show("#denoise,grain")
    clip = WORK / "plays.webm"
    picture = "testsrc2=size=1280x720:rate=24,trim=end_frame=60"
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", picture, "-c:v", "libvpx", clip], check=True)
    drop(b, clip, "video/webm")
    b.run("document.querySelector('[aria-label=Play]').click()")
    labels = set()
    for _ in range(60):
        labels.update(b.run("return [...document.querySelectorAll('.panelabel')].map((label) => label.textContent)"))
        time.sleep(0.03)
    assert labels == {"Source", "Result"}, labels


def a_picture_stays_one(b, show):
    show("#grain=strength=4")
    picture = WORK / "photo.jpg"
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=160x90,trim=end_frame=1", picture], check=True)
    drop(b, picture, "image/jpeg")
    assert not b.run("return document.querySelector('[aria-label=Play]') || document.querySelector('.frames')")
    b.run(f"{COPIED}('command')")
    copied = b.until("window.copied")
    assert copied == "grainfield render photo.jpg photo-grain.png -f grain=strength=4", copied
    b.until("document.querySelector('#toasts a[href$=install]')")
    b.run("HTMLAnchorElement.prototype.click = function () { window.saved = this.download; }")
    b.run(f"{COPIED}('Save')")
    assert b.until("window.saved") == "photo-result.png"
    # A page keeps no files: what it says of that goes when the file is there again.
    b.until("history.state?.file === 'photo.jpg'")
    b.call("/refresh", {})
    b.until("document.querySelector('#notice').textContent.includes('photo.jpg')")
    drop(b, picture, "image/jpeg")
    b.until("document.querySelector('#notice').textContent === ''")


def nothing_needs_a_server(b, show):
    show("#lut")
    b.until("document.querySelector('[data-setting=file]')")
    assert not b.run("return document.querySelector('[aria-label$=\"choose a file\"]')")
    b.run("[...document.querySelectorAll('#filters .add')].at(-1).click()")
    assert b.run("return document.querySelector('#choice-lut') && !document.querySelector('#choice-lavfi')")


def a_failure_to_load_is_explained(b, show):
    for missing in ("grainfield.wasm", "worker.js"):
        folder = WORK / f"without-{missing}"
        folder.mkdir()
        build.page(folder)
        (folder / "try" / missing).unlink()
        b.call("/url", {"url": f"http://127.0.0.1:{serve(folder)}/try.html"})
        b.until("document.body.dataset.ready === 'failed'")
        assert "could not be loaded" in b.run("return document.querySelector('#view [role=alert]').textContent")


@contextlib.contextmanager
def phone(b, width=390, height=844):
    b.cdp("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 2, "mobile": True})
    b.cdp("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    try:
        yield
    finally:
        b.cdp("Emulation.setTouchEmulationEnabled", {"enabled": False})
        b.cdp("Emulation.clearDeviceMetricsOverride", {})


def place(b, selector):
    return b.run(f"const r = document.querySelector('{selector}').getBoundingClientRect(); return [r.x, r.y, r.width, r.height]")


def box(b, selector):
    b.run(f"document.querySelector('{selector}').scrollIntoView({{ block: 'center' }})")
    return place(b, selector)


def touch(b, kind, *points):
    places = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
    b.cdp("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})


def swipe(b, x, y, across, down):
    """Nine steps of a finger."""
    touch(b, "touchStart", (x, y))
    for i in range(1, 10):
        touch(b, "touchMove", (x + across * i, y + down * i))
    touch(b, "touchEnd")
    time.sleep(0.5)


def fingers_scroll_slide_and_zoom(b, show):
    with phone(b):
        show("#grain=strength=5,noise")
        for across, down, changes in ((0, -15, False), (5, 0, True)):
            x, y, width, height = box(b, "[data-setting=strength] input[type=range]")
            swipe(b, x + width * 0.7, y + height / 2, across, down)
            now = b.run("return document.querySelector('[data-setting=strength] input.number').value")
            assert (now != "5") == changes, (across, down, now)
        x, y, width, height = box(b, ".pane")
        x, y = x + width / 2, y + height / 2
        touch(b, "touchStart", (x - 20, y))
        touch(b, "touchStart", (x - 20, y), (x + 20, y))
        for i in range(1, 9):
            touch(b, "touchMove", (x - 20 - 10 * i, y), (x + 20 + 10 * i, y))
        touch(b, "touchEnd")
        b.until("/region=\\d+%2C\\d+%2C1\\d\\d%2C/.test(document.querySelector('.pane').dataset.shown)")


MOVING = "#grain=preset=35mm:strength='20=2;100=18'"


def a_low_window_has_room_for_picture_and_curve(b, show):
    with phone(b, 844, 390):
        show(MOVING)
        b.until("document.querySelector('.curves')")
        b.run("scrollTo(0, 1e5)")
        for part, least in ((".pane", 160), (".curves", 100)):
            _, y, width, height = place(b, part)
            assert width > 400 and height > least and y >= 0 and y + height <= 391, (part, y, width, height)


def fingers_scroll_on_a_curve_and_move_its_keys(b, show):
    with phone(b):
        show(MOVING)
        b.until("document.querySelector('.curves')")
        for across, down, scrolls, frame in ((0, 10, True, "0"), (-7, 0, False, "136")):
            x, y, width, height = box(b, ".curves")
            before = b.run("return scrollY")
            swipe(b, x + width * 0.8, y + 0.3 * height, across, down)
            now = b.run("return [scrollY, document.querySelector('.frames').value]")
            assert (now[0] != before) == scrolls and (now[1] == "0") == (frame == "0"), (across, down, before, now)
        box(b, ".curves")
        x, y, width, height = place(b, ".curves .key:nth-of-type(2)")
        swipe(b, x + width / 2, y + height / 2 + 8, 0, 5)
        b.until("/100=1[0-7]/.test(location.hash)")


def the_list_of_filters_fits_a_phone(b, show):
    with phone(b):
        show()
        b.run("[...document.querySelectorAll('#filters .add')].at(-1).click()")
        b.until("document.querySelector('#choice-grain .fold')")
        across = b.run("const list = document.querySelector('#choices'); return [list.scrollWidth, list.clientWidth]")
        assert across[0] == across[1], across


def a_wipe_has_each_picture_in_its_part(b, show):
    show("#scale=width=640:height=360")
    pixel = "return [...document.querySelector('.pane').getContext('2d').getImageData(X, 400, 1, 1).data]"
    b.until("document.querySelector('.pane').dataset.shown.includes('640')")
    time.sleep(1)
    assert b.run(pixel.replace("X", "1050"))[:3] == [22, 22, 22], "the source is seen beside the result"
    assert b.run(pixel.replace("X", "10"))[:3] != [22, 22, 22], "the source is not in its place"
    b.run("document.querySelector('[aria-label=Difference]').click()")
    b.until("document.querySelector('.panelabel.bad')?.textContent.includes('640×360')")


PAGE = [
    grain_comes_and_goes,
    a_sample_is_a_device_pixel,
    the_address_keeps_the_chain,
    the_beginning_cannot_be_undone,
    a_setting_with_an_error_is_not_left_out,
    a_valid_text_replaces_a_broken_one,
    filters_are_found_by_their_names,
    clips_have_their_rate_and_length,
    a_clip_that_plays_names_no_key_frames,
    a_picture_stays_one,
    nothing_needs_a_server,
    a_failure_to_load_is_explained,
    fingers_scroll_slide_and_zoom,
    a_low_window_has_room_for_picture_and_curve,
    fingers_scroll_on_a_curve_and_move_its_keys,
    the_list_of_filters_fits_a_phone,
    a_wipe_has_each_picture_in_its_part,
]


def page():
    folder = WORK / "book"
    folder.mkdir()
    build.page(folder)
    url = f"http://127.0.0.1:{serve(folder)}/try.html"
    browser = Browser(9517)

    def show(chain=""):
        browser.call("/url", {"url": "about:blank"})
        browser.call("/url", {"url": url + chain})
        browser.until("document.body.dataset.ready === 'true'")
        browser.until("document.querySelector('.pane').dataset.shown?.includes('/frame/')")

    for one in PAGE:
        try:
            one(browser, show)
            fault = ""
        except AssertionError as error:
            fault = f": {error}"
        check.true(f"the page, {one.__name__}{fault}", not fault)
    browser.end()

if __name__ == "__main__":
    if not build.package():
        sys.exit(1)
    filters()
    if shutil.which("chromedriver"):
        page()
    sys.exit(check.end())
