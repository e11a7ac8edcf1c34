// Suggestions while typing: a combobox with a listbox (ARIA Authoring Practices Guide).
// Without this file the field is a plain search field, and nothing is missing.
//   ↓ ↑    choose a suggestion       Enter  search for it
//   Esc    close the list
(function () {
  "use strict";
  var field = document.querySelector("input[data-focus]");
  var form = field && field.form;
  if (!form || !window.fetch || !window.AbortController) return;

  var pause = 100; // between the last key and the request, in milliseconds
  var timer = 0, running = null, active = -1;
  var list = document.createElement("ul");
  list.id = "suggestions";
  list.className = "suggestions";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  form.appendChild(list);
  field.setAttribute("role", "combobox");
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-controls", list.id);
  field.setAttribute("aria-expanded", "false");

  function choose(i) {
    if (list.children[active]) list.children[active].setAttribute("aria-selected", "false");
    active = i;
    var option = list.children[i];
    if (!option) {
      field.removeAttribute("aria-activedescendant");
      return;
    }
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", option.id);
  }

  function open(yes) {
    list.hidden = !yes;
    field.setAttribute("aria-expanded", String(yes));
    choose(-1);
  }

  function stop() {
    clearTimeout(timer);
    if (running) running.abort();
    running = null;
  }

  function show(texts) {
    list.textContent = "";
    texts.forEach(function (text, i) {
      var option = document.createElement("li");
      option.id = "suggestion-" + i;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.dir = "auto";
      option.textContent = text; // from strangers' pages
      list.appendChild(option);
    });
    open(texts.length > 0 && document.activeElement === field);
  }

  // Errors do not matter here: the search itself says what is wrong.
  function ask(typed) {
    var mine = (running = new AbortController());
    fetch("/api/suggest?q=" + encodeURIComponent(typed), { signal: mine.signal }).then(function (answer) {
      return answer.ok ? answer.json() : [typed, []];
    }).then(function (answer) {
      if (running === mine) show(answer[1]);
    }, function () {
      if (running === mine) open(false);
    });
  }

  function typed() {
    stop();
    var text = field.value;
    if (text.trim() === "") {
      show([]);
    } else {
      timer = setTimeout(function () { ask(text); }, pause);
    }
  }

  function search(option) {
    stop();
    field.value = option.textContent;
    open(false);
    form.submit();
  }

  field.addEventListener("input", function (e) { if (!e.isComposing) typed(); });
  field.addEventListener("compositionend", typed);
  field.addEventListener("blur", function () { stop(); open(false); });
  form.addEventListener("submit", function () { stop(); open(false); });
  // The field keeps the focus while a suggestion is clicked.
  list.addEventListener("mousedown", function (e) { e.preventDefault(); });
  list.addEventListener("click", function (e) {
    var option = e.target.closest("[role=option]");
    if (option) search(option);
  });
  field.addEventListener("keydown", function (e) {
    var n = list.children.length;
    if (e.ctrlKey || e.metaKey || e.isComposing) return;
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      if (n === 0) return;
      if (e.altKey) {
        open(e.key === "ArrowDown");
      } else {
        var from = active;
        if (list.hidden) open(true);
        // From the field, down leads to the first suggestion and up to the last.
        if (from === -1 && e.key === "ArrowUp") from = 0;
        choose((from + (e.key === "ArrowDown" ? 1 : -1) + n) % n);
      }
    } else if (e.key === "Escape" && (!list.hidden || running)) {
      stop();
      open(false);
      e.stopPropagation(); // another one leaves the field
    } else if (e.key === "Enter" && active >= 0) {
      search(list.children[active]);
    } else {
      return;
    }
    e.preventDefault();
  });
})();
