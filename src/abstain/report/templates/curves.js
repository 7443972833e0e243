"use strict";
// The curves that are ticked, in the mix that is chosen.
(async () => {
  const { spec, unit, names, mixes } = await abstain.data("curves");
  const mix = document.getElementById("curves-mix");
  const picks = [...document.querySelectorAll("input[name=curve]")];

  const rows = () => picks.filter((pick) => pick.checked).flatMap((pick) => {
    const [coverages, risks] = mixes[mix.value][pick.value];
    return coverages.map((coverage, place) => ({
      score: names[pick.value], coverage: (100 * coverage) / unit, risk: (100 * risks[place]) / unit,
    }));
  });

  const view = await abstain.draw("#curves-chart", spec, { rows: rows() });
  const show = () => view.data("rows", rows()).runAsync();
  for (const control of [mix, ...picks]) control.addEventListener("change", show);
})();
