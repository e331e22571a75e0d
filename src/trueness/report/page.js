"use strict";
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
tip.setAttribute("aria-hidden", "true"); // marks keep their words for screen readers
document.body.append(tip);
document.querySelectorAll(".chart title").forEach((title) => {
  const mark = title.parentNode, words = title.textContent;
  mark.setAttribute("aria-label", words);
  title.remove(); // or there would be two tooltips
  const show = (event) => {
    tip.textContent = words;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 4)) + "px";
    tip.style.top = Math.max(4, event.clientY + (event.clientY + 18 + box.height > innerHeight ? -box.height - 12 : 18)) + "px";
  };
  mark.addEventListener("pointermove", show);
  mark.addEventListener("pointerdown", show);
  mark.addEventListener("pointerleave", () => { tip.hidden = true; });
});
document.querySelectorAll(".scroll").forEach((frame) => {
  const rows = [...frame.querySelectorAll("tbody tr")];
  if (rows.length <= 20) { return; }
  const search = document.createElement("input");
  search.type = "search";
  search.placeholder = "Find a name";
  search.setAttribute("aria-label", "Find a name in " + frame.getAttribute("aria-label"));
  frame.before(search);
  search.addEventListener("input", () => rows.forEach((row) => {
    row.hidden = !row.cells[0].textContent.toLowerCase().includes(search.value.toLowerCase());
  }));
});
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((it) => { it.open = true; }));
