"use strict";
// Vega charts that take their colours from the page and their width from where they are; no expression is evaluated.
abstain.draw = async (place, spec, datasets) => {
  const options = { actions: false, renderer: "svg", ast: true, tooltip: { theme: "custom" } };
  return (await vegaEmbed(place, { ...spec, datasets }, options)).view;
};
