// The risk–coverage curves of docs/concepts/scale.md at the scale of the slider, from SCALE_DATA.
(() => {
  const figure = document.getElementById("scale-figure");
  const svg = figure.querySelector("svg");
  const [slider, value, caption] = ["scale-slider", "scale-value", "scale-caption"].map((id) => document.getElementById(id));
  const [left, right, top, bottom] = [56, 440, 24, 256];
  const scores = [
    { key: "max_softmax", name: "largest probability", dash: "8 4" },
    { key: "doctor", name: "DOCTOR", dash: "2 3" },
    { key: "neg_entropy", name: "entropy", dash: "10 3 2 3" },
    { key: "margin", name: "margin", dash: "" },
  ];
  const source = document.getElementById("scale-source");
  const highest = (data) => Math.max(...scores.flatMap(({ key }) => data[key].flat()));
  const x = (coverage) => left + coverage * (right - left);

  const add = (name, attributes, text = "") => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, each]) => element.setAttribute(key, each));
    element.textContent = text;
    return svg.appendChild(element);
  };
  const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)}%`;
  const fifths = [0, 1, 2, 3, 4, 5];
  fifths.forEach((k) => add("text", { x: x(k / 5), y: bottom + 18, "text-anchor": "middle" }, percent(k / 5)));
  const risks = fifths.map((k) => add("text", { x: left - 8, y: bottom - ((bottom - top) * k) / 5 + 4, "text-anchor": "end" }));
  add("path", { d: `M${left},${top}V${bottom}H${right}`, class: "axis" });
  add("text", { x: (left + right) / 2, y: bottom + 38, "text-anchor": "middle" }, "coverage");
  add("text", { x: left + 8, y: top - 6 }, "selective risk");
  const lines = scores.map(({ key, name, dash }, k) => {
    add("path", { d: `M456,${40 + 24 * k}h30`, class: key, "stroke-dasharray": dash });
    add("text", { x: 492, y: 44 + 24 * k }, name);
    return add("path", { class: key, "stroke-dasharray": dash });
  });

  const mean = (numbers) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
  const show = () => {
    const at = Number(slider.value);
    value.textContent = SCALE_DATA.scales[at].toPrecision(2);
    const data = SCALE_DATA[source.value];
    const limit = Math.ceil(highest(data) * 20) / 20;
    const y = (risk) => bottom - (risk / limit) * (bottom - top);
    risks.forEach((label, k) => (label.textContent = percent((limit * k) / 5)));
    const curves = scores.map(({ key }) => (key === "margin" ? data.margin : data[key][at]));
    curves.forEach((curve, k) => {
      const points = curve.map((risk, i) => `${x(SCALE_DATA.coverages[i]).toFixed(1)},${y(risk).toFixed(1)}`);
      lines[k].setAttribute("d", `M${points.join("L")}`);
    });
    const means = scores.map(({ name }, k) => `${name} ${percent(mean(curves[k]), 2)}`);
    caption.textContent = `Mean risk over all coverages: ${means.join(", ")}.`;
  };
  slider.addEventListener("input", show);
  source.addEventListener("input", show);
  show();
})();
