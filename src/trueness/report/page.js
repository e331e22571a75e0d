"use strict";
(function () {
  var tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true"); // the mark itself carries the same words
  document.body.appendChild(tip);

  function show(mark, x, y) {
    tip.textContent = mark.getAttribute("aria-label");
    tip.hidden = false;
    var box = tip.getBoundingClientRect();
    var left = Math.min(Math.max(4, x + 14), window.innerWidth - box.width - 4);
    var top = y + 18 + box.height > window.innerHeight ? y - box.height - 12 : y + 18;
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = Math.max(4, top) + "px";
  }
  function hide() { tip.hidden = true; }
  function showAt(mark) {
    var box = mark.getBoundingClientRect();
    show(mark, box.left + box.width / 2, box.top + box.height / 2);
  }

  // Without this script a mark's <title> is its tooltip; with it, two of them would show.
  function adopt(element) {
    var title = element.querySelector("title");
    if (!title) { return; }
    element.setAttribute("aria-label", title.textContent);
    element.setAttribute("role", "img");
    element.removeChild(title);
    element.addEventListener("pointermove", function (event) { show(element, event.clientX, event.clientY); });
    element.addEventListener("pointerleave", hide);
  }

  // One stop of the tab key for each picture, and the arrow keys within it.
  function steer(svg) {
    var marks = Array.prototype.slice.call(svg.querySelectorAll(".mark"));
    var columns = Number(svg.getAttribute("data-columns")) || 1;
    marks.forEach(function (mark, place) {
      mark.setAttribute("tabindex", place === 0 ? "0" : "-1");
      mark.addEventListener("focus", function () { showAt(mark); });
      mark.addEventListener("blur", hide);
      mark.addEventListener("keydown", function (event) {
        var steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns, Home: -place, End: marks.length - 1 - place };
        if (event.key === "Escape") { hide(); return; }
        if (!(event.key in steps)) { return; }
        event.preventDefault();
        var next = marks[place + steps[event.key]];
        if (next) {
          mark.setAttribute("tabindex", "-1");
          next.setAttribute("tabindex", "0");
          next.focus();
        }
      });
    });
  }

  document.querySelectorAll(".chart").forEach(function (svg) {
    svg.querySelectorAll(".mark, .aside").forEach(adopt);
    steer(svg);
  });
  // A mark that gets the focus may be scrolled into sight: its words go with it. Under a mouse they would be wrong.
  window.addEventListener("scroll", function () {
    var mark = document.activeElement;
    if (tip.hidden) { return; }
    if (mark && mark.classList.contains("mark")) { showAt(mark); } else { hide(); }
  }, { passive: true, capture: true });

  // Many groups are found by their names.
  var groups = document.getElementById("groups");
  if (groups && groups.tBodies[0].rows.length > 20) {
    var search = document.createElement("input");
    search.type = "search";
    search.placeholder = "Find a group";
    search.setAttribute("aria-label", "Find a group by its name");
    groups.parentNode.parentNode.insertBefore(search, groups.parentNode);
    search.addEventListener("input", function () {
      var wanted = search.value.toLowerCase();
      Array.prototype.forEach.call(groups.tBodies[0].rows, function (row) {
        row.hidden = row.cells[0].textContent.toLowerCase().indexOf(wanted) < 0;
      });
    });
  }
})();
