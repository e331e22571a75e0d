"use strict";
(function () {
  var tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true"); // the mark itself has the same text
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

  // Without this script the <title> of a mark is its tooltip; keeping it would show two.
  function describe(element) {
    var title = element.querySelector("title");
    if (!title) { return; }
    element.setAttribute("aria-label", title.textContent);
    element.setAttribute("role", "img");
    element.removeChild(title);
    element.addEventListener("pointermove", function (event) { show(element, event.clientX, event.clientY); });
    element.addEventListener("pointerleave", hide);
  }

  // The tab key stops once at each picture; the arrow keys move within it.
  function navigate(svg) {
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
    svg.querySelectorAll(".mark, .aside").forEach(describe);
    navigate(svg);
  });
  // Focus can scroll a mark into view: its tooltip moves along. One under the mouse would be wrong, and is hidden.
  window.addEventListener("scroll", function () {
    var mark = document.activeElement;
    if (tip.hidden) { return; }
    if (mark && mark.classList.contains("mark")) { showAt(mark); } else { hide(); }
  }, { passive: true, capture: true });

  // A search field for many groups.
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
