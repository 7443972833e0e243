"""Draw docs/picture.png, the picture of the README: images that a selector answers, and those it leaves to a person."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from sklearn.datasets import load_digits

import abstain
from abstain._draws import generator
from abstain.datasets import digits
from abstain.datasets.digits_network import CORRUPTIONS, KNOWN

FILE = Path(__file__).with_name("picture.png")
RISK = 0.05
SHOWN, WIDTH = 95, 16  # images, and how many in a row
GREEN, RED, GREY = "#1a7f5a", "#d1242f", "#57606a"


def images_of(outputs):
    """(n, 8, 8) what the network of the example saw, row by row: the draws of its script, made again."""
    data, rng = load_digits(), generator("digits experiment", 0)
    known = rng.permutation(np.flatnonzero(data.target < KNOWN))
    test = outputs.ids[outputs.domain == "clean"]
    assert (known[-len(test) :] == test).all()
    corrupted = {name: corrupt(data.images[test], rng) for name, corrupt in CORRUPTIONS.items()}
    images = data.images[outputs.ids]
    for name, copies in corrupted.items():
        images[outputs.domain == name] = copies
    return images


def proportional_draw(accepted, errors):
    """Row numbers of images to show: as many answered, rejected, right and wrong ones as their shares say."""
    rng, kinds = generator("picture of the README", 0), 2 * accepted + errors
    rows = [np.flatnonzero(kinds == kind) for kind in range(4)]
    counts = [round(SHOWN * len(each) / len(kinds)) for each in rows]
    return np.concatenate([rng.choice(each, count, replace=False) for each, count in zip(rows, counts, strict=True)])


def draw(axes, image, answer, *, wrong, column, row):
    """One image with the network's answer below it, framed red where that is wrong."""
    axes.imshow(image, cmap="gray_r", vmin=0, vmax=16, extent=(column + 0.12, column + 0.88, row + 0.7, row))
    colour = RED if wrong else "#c9d1d9"
    axes.add_patch(Rectangle((column + 0.12, row), 0.76, 0.7, fill=False, edgecolor=colour, lw=1.8 if wrong else 0.6))
    axes.text(column + 0.5, row + 0.85, answer, ha="center", va="center", fontsize=8, color=RED if wrong else GREY)


def main():
    """Calibrate on half of the example, draw images of the other half by confidence."""
    outputs = digits()
    images = images_of(outputs)
    held_out, fresh = outputs.split(0.5, seed=1)
    row_of = {(i, d): row for row, (i, d) in enumerate(zip(outputs.ids, outputs.domain, strict=True))}
    selector = abstain.calibrate(held_out, score="learned", risk=RISK)
    confidence, accepted = selector.confidence(fresh), selector.accepts(fresh)

    drawn = proportional_draw(accepted, fresh.errors)
    drawn = drawn[np.argsort(-confidence[drawn], kind="stable")]
    answered = int(accepted[drawn].sum())
    gap = 1.1  # between the two parts, in rows
    figure, axes = plt.subplots(figsize=(9, 6.1), dpi=160)
    rows_above = -(-answered // WIDTH)
    for number, row in enumerate(drawn):
        below = number >= answered
        position = number - answered if below else number
        top = position // WIDTH + (rows_above + gap if below else 0)
        image = images[row_of[fresh.ids[row], fresh.domain[row]]]
        answer = str(fresh.predictions[row])
        draw(axes, image, answer, wrong=fresh.errors[row], column=position % WIDTH, row=top)
    share, risk = accepted.mean(), fresh.errors[accepted].mean()
    left = fresh.errors[~accepted].mean()
    title = f"Answered: {share:.0%}. Guaranteed at most {RISK:.0%} wrong"
    axes.text(0.1, -0.35, title, color=GREEN, fontsize=13, weight="bold")
    axes.text(WIDTH, -0.35, f"here: {risk:.1%} wrong", color=GREEN, fontsize=11, ha="right")
    middle = rows_above + gap - 0.35
    axes.text(0.1, middle, "“I don't know”: to a person", color=RED, fontsize=13, weight="bold")
    axes.text(WIDTH, middle, f"{left:.0%} would have been wrong", color=RED, fontsize=11, ha="right")
    rows = rows_above + gap + -(-(len(drawn) - answered) // WIDTH)
    axes.text(0.1, rows + 0.35, "Below each image: the network's answer. Red: it is wrong.", color=GREY, fontsize=10)
    axes.set(xlim=(0, WIDTH), ylim=(rows + 0.5, -0.9), aspect=1)
    axes.axis("off")
    figure.savefig(FILE, bbox_inches="tight", facecolor="white")


if __name__ == "__main__":
    main()
