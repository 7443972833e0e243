"""Draw the pictures of docs/report.md: the report of the example, light, dark and on a phone."""

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import abstain
from abstain.datasets import digits

FOLDER = Path(__file__).with_name("images")
SECTIONS = ("decision", "explorer", "samples")
"""What the pictures show; the phone shows all, side by side."""


def screenshot(browser: Browser, report: Path, section: str, *, size: tuple[int, int], theme: str) -> Image.Image:
    """The window of a browser, with the section at its upper edge."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=theme, device_scale_factor=1.5)
    page.goto(report.as_uri())
    page.wait_for_function("document.querySelector('#explorer-chart').children.length > 0")
    if section != SECTIONS[0]:
        page.evaluate("section => document.getElementById(section).scrollIntoView()", section)
        page.wait_for_timeout(1000)  # until it is drawn there
    picture = Image.open(io.BytesIO(page.screenshot()))
    page.close()
    return picture


def side_by_side(pictures: list[Image.Image], gap: int = 20) -> Image.Image:
    """All in a row."""
    width, height = pictures[0].size
    row = Image.new("RGB", (len(pictures) * (width + gap) - gap, height), "#cccccc")
    for number, picture in enumerate(pictures):
        row.paste(picture, (number * (width + gap), 0))
    return row


def save(picture: Image.Image, name: str) -> None:
    """With few colours, since it is text and lines."""
    picture.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(FOLDER / name, optimize=True)


def main() -> None:
    """Write the report and look at it."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = Path(folder, "report.html")
        abstain.evaluate(digits()).to_html(report)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        wide, phone = (900, 1000), (390, 844)
        save(screenshot(browser, report, "decision", size=wide, theme="light"), "report-light.png")
        save(screenshot(browser, report, "explorer", size=wide, theme="dark"), "report-dark.png")
        narrow = [screenshot(browser, report, section, size=phone, theme="light") for section in SECTIONS]
        save(side_by_side(narrow), "report-phone.png")
        browser.close()


if __name__ == "__main__":
    main()
