"use strict";
// The explorer. Counts come from Python; here they are added up, looked up and shown.
(async () => {
  if (!document.getElementById("data-explorer")) return;
  const found = await abstain.data("explorer");
  const { kinds, mixes, parts, digits, command, start } = found;
  const element = (name) => document.getElementById(name);
  const [scoreSelect, mixSelect, partSelect] = ["score", "mix", "parts"].map((name) => element(`explorer-${name}`));
  const inputs = Object.fromEntries(["threshold", "coverage", "risk"].map((name) => [
    name, [element(`explorer-${name}`), element(`explorer-${name}-slider`)],
  ]));
  const percent = (share) => abstain.percent(share, digits);
  const count = (number) => abstain.fixed(number, 0);
  const asNumber = (value) => (value === "-inf" ? -Infinity : value === "inf" ? Infinity : value);

  // Counts up to each threshold, [threshold][kind][part], from what each adds to the one before.
  function upTo(score, name) {
    const width = kinds * parts[name];
    const points = score.thresholds.length + 1; // the last has what no threshold accepts
    const rows = new Int32Array(points * width);
    const errors = new Int32Array(points * width);
    const { at, rows: added, errors: wrong } = score.counts[name];
    let place = 0;
    at.forEach((step, number) => {
      place += step;
      rows[place] = added[number];
      errors[place] = wrong[number];
    });
    for (let cell = width; cell < rows.length; cell += 1) {
      rows[cell] += rows[cell - width];
      errors[cell] += errors[cell - width];
    }
    return { rows, errors, width };
  }

  const tables = new Map();
  function counted(score, name) {
    const key = `${score} ${name}`;
    if (!tables.has(key)) tables.set(key, upTo(found.scores[score], name));
    return tables.get(key);
  }

  function sum(table, place, part, name) {
    let [rows, errors] = [0, 0];
    for (const kind of mixes[mixSelect.value]) {
      const cell = place * table.width + kind * parts[name] + part;
      rows += table.rows[cell];
      errors += table.errors[cell];
    }
    return [rows, errors];
  }

  // The curve of the chosen score in the chosen mix.
  let [score, curve, place, mode, isStart] = [0, [], 0, start.risk === null ? "threshold" : "risk", true];
  function read() {
    score = Number(scoreSelect.value);
    const { thresholds, bounds } = found.scores[score];
    const table = counted(score, "every");
    const [total, wrong] = sum(table, thresholds.length, 0, "every");
    curve = thresholds.map((threshold, at) => {
      const [accepted, errors] = sum(table, at, 0, "every");
      return {
        threshold: asNumber(threshold), accepted, errors, total, wrong, share: accepted / total,
        coverage: (100 * accepted) / total, risk: accepted ? (100 * errors) / accepted : 0,
        bound: Number(bounds[mixSelect.value][at]),
      };
    });
    const slider = inputs.threshold[1];
    slider.min = 0;
    slider.max = curve.length - 1;
    inputs.risk[1].max = Math.ceil(10 * Math.max(0.1, curve.at(-1).bound)) / 10;
  }

  // The places of a threshold, a coverage and a risk.
  const nearest = (distance) => curve.reduce((best, point, at) => (distance(point) < distance(curve[best]) ? at : best), 0);
  const far = (a, b) => (a === b ? 0 : Math.abs(a - b)); // also where both are infinite
  const placeOf = {
    threshold: (value) => nearest((point) => far(point.threshold, value)),
    coverage: (value) => nearest((point) => far(point.coverage, value)),
    risk: (value) => Math.max(0, curve.findLastIndex((point) => point.accepted && point.bound <= value)),
  };

  function set(name, words, under) {
    element(name).textContent = words;
    if (under !== undefined) element(`${name}-under`).textContent = under;
  }

  function showPoint(point) {
    const rejected = point.total - point.accepted;
    set("explorer-accepted", percent(point.share), `${count(point.accepted)} of ${count(point.total)} rows`);
    set("explorer-rejected", percent(rejected / point.total), `${count(rejected)} rows`);
    set("explorer-selective", percent(point.errors / point.accepted), `${count(point.errors)} of ${count(point.accepted)} are wrong`);
    set("explorer-bound", point.accepted ? `${found.scores[score].bounds[mixSelect.value][place]}%` : "–",
      mode === "risk" && point.bound > Number(inputs.risk[0].value) ? "no point is below what was asked for" : "of rows like these");
  }

  const money = () => ["volume", "cost-rejection", "cost-error"].map((name) => Math.max(0, Number(element(`explorer-${name}`).value) || 0));
  const cost = (point, [, rejection, error]) => (rejection * (point.total - point.accepted) + error * point.errors) / point.total;

  function goCheapest() {
    const costs = money();
    place = curve.reduce((best, point, at) => (cost(point, costs) < cost(curve[best], costs) ? at : best), 0);
    [mode, isStart] = ["cost", false];
  }

  function showDay(point) {
    const costs = money();
    const [volume] = costs;
    const daily = (rows) => count(Math.round((volume * rows) / point.total));
    const all = (costs[2] * point.wrong) / point.total;
    const cheapest = curve.reduce((best, one) => (cost(one, costs) < cost(best, costs) ? one : best));
    set("daily-words", `Expected for ${count(volume)} answers a day, a rejection costing ${costs[1]} and an error ${costs[2]}, if days are like these rows.`);
    set("daily-accepted", daily(point.accepted), "answers go out");
    set("daily-rejected", daily(point.total - point.accepted), "go to a person");
    set("daily-wrong", daily(point.errors), `of ${daily(point.wrong)} if all went out`);
    set("daily-cost", abstain.fixed(volume * cost(point, costs), 2),
      `${abstain.fixed(volume * all, 2)} if all went out; at best ${abstain.fixed(volume * cost(cheapest, costs), 2)}`);
  }

  function showParts() {
    if (!partSelect) return;
    const name = partSelect.value;
    for (const one of partSelect.options) element(`parts-${one.value}`).hidden = one.value !== name;
    const table = counted(score, name);
    const shown = element(`table-${name}`);
    rowsOf(shown).forEach((row, part) => {
      const [total] = sum(table, curve.length, part, name);
      const [accepted, errors] = sum(table, place, part, name);
      row.hidden = !total;
      const shares = [accepted / total, errors, errors / accepted];
      const words = [count(total), count(accepted), count(total - accepted), percent(shares[0]), count(errors), percent(shares[2])];
      const keys = [total, accepted, total - accepted, shares[0], errors, accepted ? shares[2] : -1];
      words.forEach((text, cell) => {
        row.cells[cell + 1].textContent = text;
        row.cells[cell + 1].dataset.key = keys[cell];
        if (cell === 3) {
          row.cells[4].classList.add("share");
          row.cells[4].style.setProperty("--share", shares[0]);
        }
      });
    });
    abstain.sortAgain(shown);
  }

  const ownRows = new Map(); // in the order of the parts, whatever they are sorted by
  function rowsOf(table) {
    if (!ownRows.has(table)) ownRows.set(table, [...table.tBodies[0].rows]);
    return ownRows.get(table);
  }

  // A slider is not moved under the hand that moves it, and a risk that was asked for stays.
  function showInputs(point, moved) {
    const words = Number.isFinite(point.threshold) ? Number(point.threshold.toPrecision(6)) : "";
    inputs.threshold[0].value = words;
    inputs.threshold[1].value = place;
    inputs.threshold[1].setAttribute("aria-valuetext", words === "" ? "everything" : `above ${words}`);
    inputs.coverage[0].value = point.coverage.toFixed(2);
    if (moved !== inputs.coverage[1]) inputs.coverage[1].value = point.coverage;
    if (mode !== "risk") inputs.risk.forEach((input) => { input.value = point.bound; });
  }

  function showCommand(point) {
    if (!command) return; // of a selector, which is there already
    const [, rejection, error] = money();
    const risk = Number(inputs.risk[0].value) / 100;
    const asked = mode === "cost" && rejection > 0 && error > 0
      ? `--cost ${Number((rejection / error).toPrecision(6))}`
      : mode === "risk" && risk > 0 && risk < 1
      ? `--risk ${Number(risk.toPrecision(6))}`
      : `--coverage ${Math.max(Math.floor(1000 * Math.min(point.share, 0.999)) / 1000, 0.001)}`;
    const words = isStart ? [start.command] : [command.before, command.scores[score], asked, command.after];
    if (mixSelect.selectedIndex > 0) words.push(" # on outputs of this mix alone"); // a selector knows of no mix
    element("command-line").textContent = words.join(" ");
  }

  let chart = null;
  const marked = (point) => [{ coverage: point.coverage, risk: point.risk, bound: point.bound }];
  function drawn() { // as many points as the picture can show
    const shown = curve.filter((point) => point.accepted >= Math.min(30, point.total / 2));
    const step = Math.ceil(shown.length / 400);
    return shown.filter((_, at) => at % step === 0 || at === shown.length - 1)
      .map(({ coverage, risk, bound }) => ({ coverage, risk, bound }));
  }
  let waiting = false;
  function show(moved) {
    const point = curve[place];
    showInputs(point, moved);
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { // many moves, one picture
      waiting = false;
      const now = curve[place];
      showPoint(now);
      showDay(now);
      showParts();
      showCommand(now);
      if (chart) chart.data("point", marked(now)).runAsync();
    });
  }

  function move(name, input) {
    [mode, isStart] = [name, false];
    const value = Number(input.value);
    place = name === "threshold" && input.type === "range" ? value : placeOf[name](value);
    if (name === "risk") inputs.risk.forEach((other) => { if (other !== input) other.value = value; });
    show(input);
  }

  for (const [name, each] of Object.entries(inputs)) {
    for (const input of each) {
      const event = input.type === "range" ? "input" : "change";
      input.addEventListener(event, () => { if (input.value !== "") move(name, input); });
    }
  }

  function begin() {
    scoreSelect.value = "0";
    mixSelect.selectedIndex = 0;
    read();
    [mode, isStart] = [start.risk === null ? "threshold" : "risk", true];
    place = start.threshold === null ? placeOf.coverage(100 * start.coverage) : placeOf.threshold(asNumber(start.threshold));
    if (start.risk !== null) inputs.risk.forEach((input) => { input.value = Number((100 * start.risk).toPrecision(6)); });
    show(null);
  }

  function change() { // the same coverage, of another score or in another mix
    const { coverage } = curve[place];
    read();
    place = placeOf.coverage(coverage);
    [mode, isStart] = ["coverage", false];
    show(null);
    if (chart) chart.data("rows", drawn()).runAsync();
  }

  scoreSelect.addEventListener("change", change);
  mixSelect.addEventListener("change", change);
  if (partSelect) partSelect.addEventListener("change", () => show(null));
  for (const name of ["volume", "cost-rejection", "cost-error"]) element(`explorer-${name}`).addEventListener("input", () => { if (mode === "cost") goCheapest(); show(null); });
  element("explorer-reset").addEventListener("click", () => { begin(); if (chart) chart.data("rows", drawn()).runAsync(); });
  element("explorer-cheapest").addEventListener("click", () => { goCheapest(); show(null); });
  begin();
  chart = await abstain.draw("#explorer-chart", found.spec, { rows: drawn(), point: marked(curve[place]) });
})();
