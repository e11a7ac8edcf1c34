// Keyboard shortcuts. Everything works without this file.
//   /      focus the search field      j k    next and previous result
//   Esc    leave the search field      d      details of the result
(function () {
  "use strict";
  var field = document.querySelector("input[data-focus]");
  var results = Array.prototype.slice.call(document.querySelectorAll("a[data-result]"));

  function typing(e) {
    var t = e.target;
    return t.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName);
  }

  function step(by) {
    if (results.length === 0) return;
    var at = results.indexOf(document.activeElement) + by;
    if (by < 0 && at < -1) at = results.length - 1;
    var to = results[Math.max(0, Math.min(results.length - 1, at))];
    to.focus();
    to.scrollIntoView({ block: "center" });
  }

  document.addEventListener("keydown", function (e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
    if (e.key === "Escape" && e.target === field) {
      field.blur();
      e.preventDefault(); // some browsers would empty the field
      return;
    }
    if (typing(e)) return;
    if (e.key === "/" && field) {
      field.focus();
      field.select();
    } else if (e.key === "j") {
      step(1);
    } else if (e.key === "k") {
      step(-1);
    } else if (e.key === "d" && document.activeElement.dataset.result) {
      location.href = document.activeElement.dataset.result;
      return;
    } else {
      return;
    }
    e.preventDefault();
  });
})();
