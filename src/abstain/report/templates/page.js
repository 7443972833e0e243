"use strict";
// What every page can do: unpack its data, sort its tables, copy its commands. Text is only ever set as text.
const abstain = (() => {
  const unpacked = new Map();

  async function unpack(name) {
    const packed = atob(document.getElementById(`data-${name}`).textContent);
    const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  function data(name) {
    if (!unpacked.has(name)) unpacked.set(name, unpack(name));
    return unpacked.get(name);
  }

  // As Python rounds: half to even, so that both show the same last digit.
  const formats = new Map();
  function fixed(value, digits) {
    if (!formats.has(digits)) {
      formats.set(digits, new Intl.NumberFormat("en-US", {
        minimumFractionDigits: digits, maximumFractionDigits: digits, roundingMode: "halfEven",
      }));
    }
    return formats.get(digits).format(value).replace("-", "−");
  }
  const percent = (share, digits = 2) => (Number.isFinite(share) ? `${fixed(100 * share, digits)}%` : "–");

  function key(row, column) {
    const cell = row.cells[column];
    const number = Number(cell.dataset.key ?? cell.textContent.replace(/[,%\s]/g, "").replace("−", "-"));
    return Number.isNaN(number) || cell.textContent.trim() === "" ? cell.textContent : number;
  }

  function compare(a, b) {
    if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b);
    return typeof a === "number" ? -1 : 1;
  }

  function sort(table, column, ascending) {
    const rows = [...table.tBodies[0].rows].map((row) => [key(row, column), row]);
    rows.sort(([a], [b]) => (ascending ? compare(a, b) : compare(b, a)));
    table.tBodies[0].append(...rows.map(([, row]) => row));
    [...table.tHead.rows[0].cells].forEach((head, place) => {
      if (place === column) head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
  }

  function sortAgain(table) {
    const head = table.tHead.querySelector("[aria-sort]");
    if (head) sort(table, head.cellIndex, head.getAttribute("aria-sort") === "ascending");
  }

  function makeSortable(table) {
    for (const head of table.tHead.rows[0].cells) {
      const button = head.querySelector("button");
      if (button) {
        button.addEventListener("click", () => {
          sort(table, head.cellIndex, head.getAttribute("aria-sort") !== "ascending");
        });
      }
    }
  }

  async function copy(words) {
    try {
      await navigator.clipboard.writeText(words);
    } catch { // a browser that does not let pages from disk do so
      const area = document.createElement("textarea");
      area.value = words;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  }

  function makeCopy(button) {
    const words = button.textContent;
    button.addEventListener("click", async () => {
      await copy(document.getElementById(button.dataset.copy).textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = words; }, 1600);
    });
  }

  document.querySelectorAll("table.sortable").forEach(makeSortable);
  document.querySelectorAll("button[data-copy]").forEach(makeCopy);
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details:not(.long)").forEach((part) => { part.open = true; });
  });
  return { data, fixed, percent, sort, sortAgain };
})();
