"""The options of `abstain monitor` on what is monitored, and the watch that they start or continue."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, final

import typer

import abstain
from abstain._errors import InvalidInputError
from abstain._io.files import read_text

if TYPE_CHECKING:
    from abstain.monitor import AcceptanceMonitor, DeploymentMonitor
    from abstain.monitor.watch import Watch


@final
@dataclass(frozen=True, kw_only=True)
class WatchOptions:
    """What is monitored."""

    selector: Annotated[
        Path | None,
        typer.Option(help="The selector or cascade file: monitor its risk, share accepted and confidences."),
    ] = None
    risk: Annotated[float | None, typer.Option(help="The guaranteed risk. [that of the selector]")] = None
    calibration: Annotated[
        str | None, typer.Option(help="ACCEPTED/N of the calibration sample, to monitor the share accepted.")
    ] = None
    delta: Annotated[
        float,
        typer.Option(help="Probability of a false alarm of each kind, in all rows or any group, over all time."),
    ] = 0.05
    per: Annotated[
        str | None,
        typer.Option(help="Monitor each group too: class, or the column that names them. [that of the selector]"),
    ] = None
    label_window: Annotated[
        int | None,
        typer.Option(min=0, help="Accepted decisions after which a missing label is no longer waited for. [1000]"),
    ] = None
    recent: Annotated[
        int | None,
        typer.Option(min=1, help="Last labelled rows, and decisions, to report beside those of all time. [1000]"),
    ] = None

    def start(self) -> "Watch | None":
        """A new watch of what the options ask for; None if that is nothing."""
        from abstain.monitor.rule import Rule
        from abstain.monitor.watch import Watch
        from abstain.selector.cascades.loading import certifying_selector, load_selector
        from abstain.thresholds.sample import check_chance

        check_chance("--delta", self.delta)
        loaded = None if self.selector is None else load_selector(self.selector)
        selector = None if loaded is None else certifying_selector(loaded)
        rule = None if selector is None else Rule.of(selector)
        per = self.per if rule is None else rule.monitored_per(self.per)
        if isinstance(loaded, abstain.Cascade):
            per = per or loaded.guaranteed_per
        monitors = self._monitors(selector, per)
        windows = {"label_window": self.label_window, "recent_window": self.recent}
        known = {name: rows for name, rows in windows.items() if rows is not None}
        return Watch(monitors, rule=rule, **known) if monitors.parts else None

    def _monitors(self, selector: "abstain.Selector | None", per: str | None) -> "DeploymentMonitor":
        from abstain.monitor import DeploymentMonitor, RiskMonitor

        delta = self.delta if per is None else self.delta / 2  # the other half is for the groups
        if selector is not None:
            monitors = DeploymentMonitor.of(selector, risk=self.risk, delta=delta)
        else:
            monitors = DeploymentMonitor(None if self.risk is None else RiskMonitor(risk=self.risk, delta=delta))
        if self.calibration is not None:
            if monitors.clustered:
                raise InvalidInputError(
                    "`--calibration` must be left out for a selector calibrated with ids, since each id counts once, "
                    f"got {self.calibration}."
                )
            monitors = replace(monitors, acceptance=self._acceptance(self.calibration, delta))
        return monitors if per is None else monitors.by_group(per, delta=delta, selector=selector)

    def _acceptance(self, calibration: str, delta: float) -> "AcceptanceMonitor":
        accepted, _, n = calibration.partition("/")
        if not (calibration.isascii() and accepted.isdigit() and n.isdigit()):
            raise InvalidInputError(f"`--calibration` must be ACCEPTED/N, such as 800/1000, got {calibration!r}.")
        return abstain.monitor.AcceptanceMonitor.from_calibration(accepted=int(accepted), n=int(n), delta=delta)

    def resume(self, state: Path | None, /) -> "Watch":
        """The watch in the state file, or else a new one."""
        from abstain.monitor.watch import Watch

        if state is None or not state.exists():
            new = self.start()
            if new is None:
                raise InvalidInputError("`--selector`, `--risk` or `--calibration` must be given, got none of them.")
            return new
        try:
            saved = Watch.from_json(read_text(state, "the state of a monitor"))
        except InvalidInputError as error:
            raise InvalidInputError(str(error).replace("`text`", f"`{state}`")) from None
        windows = (
            ("--label-window", self.label_window, saved.turns.window),
            ("--recent", self.recent, saved.recent.window),
        )
        for option, value, known in windows:
            if value not in (None, known):
                raise InvalidInputError(
                    f"`{option}` must be that of the state, {known}, got {value}. Leave it out, or name a new file."
                )
        new = replace(self, recent=saved.recent.window).start()
        if new is not None and (saved.monitors.begun() != new.monitors or saved.rule not in (None, new.rule)):
            raise InvalidInputError(
                f"`--state` must belong to the selector and options given, got another monitor in {state.name}. Leave "
                "these options out to continue with it, or name a new file."
            )
        saved.rule = saved.rule or (new and new.rule)
        return saved
