"use strict";
// The table of scores in another mix or by another metric; rows stay the scores', cells are as Python wrote them.
(async () => {
  const { order, views, standing, area } = await abstain.data("scores");
  const table = document.getElementById("scores-table");
  const rows = new Map([...table.tBodies[0].rows].map((row, place) => [order[place], row]));
  const [mix, metric, alpha] = ["mix", "metric", "alpha"].map((one) => document.getElementById(`scores-${one}`));

  function show() {
    const isArea = metric.value === area;
    alpha.disabled = !isArea;
    const view = views[`${mix.value}|${isArea ? `${area}-${alpha.value}` : metric.value}`];
    for (const [score, row] of rows) {
      const [key, value, interval, behind, stands] = view ? view[score] : [1e300, "–", "", "", ""];
      row.cells[1].dataset.key = key;
      [value, interval, behind, standing[stands]].forEach((words, place) => {
        row.cells[place + 1].textContent = words;
      });
      row.className = stands === "best" ? "best" : "";
    }
    abstain.sort(table, 1, true);
  }

  for (const select of [mix, metric, alpha]) select.addEventListener("change", show);
  show();
})();
