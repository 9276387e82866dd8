"use strict";
const byId = (id) => document.getElementById(id);
const rows = [...document.querySelectorAll("tbody tr")];
const words = rows.map((row) => [...row.cells].map((cell) => cell.textContent.toLowerCase()));
const filters = [...document.querySelectorAll("thead th")].map((title) => {
  const input = document.createElement("input");
  input.type = "search";
  input.setAttribute("aria-label", `Filter ${title.textContent}`);
  const place = document.createElement("th");
  place.append(input);
  byId("filters").append(place);
  return input;
});
function filter() {
  const wanted = byId("search").value.toLowerCase();
  const each = filters.map((input) => input.value.toLowerCase());
  let shown = 0;
  rows.forEach((row, number) => {
    const cells = words[number];
    const fits = each.every((word, column) => !word || cells[column].includes(word))
      && (!wanted || cells.some((cell) => cell.includes(wanted)));
    row.hidden = !fits;
    shown += fits;
  });
  byId("count").textContent = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
}
let timer;
document.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(filter, 120); });
byId("open").addEventListener("change", (event) => {
  document.querySelectorAll("details").forEach((box) => { box.open = event.target.checked; });
});
byId("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
filter();
