// Shows the updates that the server sends, and draws the graph. The server makes all
// text. Without this file the page shows the figures as of when it was loaded.
(function () {
  "use strict";
  var page = document.querySelector("[data-events]");
  if (!page || !window.EventSource) return;
  var SVG = "http://www.w3.org/2000/svg";
  var KEEP = 600; // points
  var points = [];
  var graph = page.querySelector("[data-graph]");
  var canvas = graph.querySelector(".canvas");
  var link = page.querySelector("[data-link]");

  function each(attribute, values, put) {
    page.querySelectorAll("[" + attribute + "]").forEach(function (e) {
      var v = values[e.getAttribute(attribute)];
      put(e, v);
    });
  }

  function text(e, v) {
    if (v !== undefined && e.textContent !== v) e.textContent = v;
  }

  function show(view) {
    text(page.querySelector("[data-at]"), view.at);
    page.querySelector("[data-state]").setAttribute("data-state", view.state);
    each("data-text", view.text, text);
    each("data-level", view.level, function (e, v) { e.setAttribute("data-is", v || ""); });
    each("data-bar", view.bars, function (e, v) { e.setAttribute("width", (v || 0).toFixed(1)); });
    page.querySelectorAll("[data-crawls]").forEach(function (e) { e.hidden = !view.crawls; });
    note(view.notes);
    var body = page.querySelector("[data-hosts]");
    var rows = document.createDocumentFragment();
    view.hosts.forEach(function (h) {
      var row = document.createElement("tr");
      [["th", h.host], ["td", h.new], ["td", h.revisits], ["td", h.why]].forEach(function (c, i) {
        var cell = document.createElement(c[0]);
        if (i === 0) cell.scope = "row";
        if (i === 1 || i === 2) cell.className = "number";
        var inner = i === 1 || i === 2 ? cell : cell.appendChild(document.createElement("bdi"));
        inner.textContent = c[1];
        row.appendChild(cell);
      });
      rows.appendChild(row);
    });
    body.replaceChildren(rows);
  }

  // Notes are replaced only when they change, because screen readers announce each replacement.
  function note(notes) {
    var box = document.querySelector("[data-notes]");
    var shown = Array.from(box.children, function (e) { return e.textContent; });
    if (shown.join("\n") === notes.join("\n")) return;
    box.replaceChildren.apply(box, notes.map(function (n) {
      var e = document.createElement("p");
      e.className = "note";
      e.textContent = n;
      return e;
    }));
  }

  // Points are kept by number, so that a point that is sent twice is drawn once.
  function take(more) {
    if (more.length === 0) return;
    if (points.length && more[0].t > points[points.length - 1].t && more[0].seq <= points[points.length - 1].seq) points = []; // the server restarted
    var known = points.length ? points[points.length - 1].seq : 0;
    more.forEach(function (p) { if (p.seq > known) points.push(p); });
    points = points.slice(-KEEP);
  }

  function node(name, attributes, content) {
    var e = document.createElementNS(SVG, name);
    for (var k in attributes) e.setAttribute(k, attributes[k]);
    if (content !== undefined) e.textContent = content;
    return e;
  }

  function span(ms) {
    return ms < 1000 ? ms + " ms" : ms < 1000000 ? ms / 1000 + " s" : Math.round(ms / 60000) + " min";
  }

  // runs splits the points where more than five seconds lie between two of them; a line joins the points of a run.
  function runs(list) {
    var all = [], run = [];
    list.forEach(function (p) {
      if (run.length && p.t - run[run.length - 1].t > 5000) { all.push(run); run = []; }
      run.push(p);
    });
    if (run.length) all.push(run);
    return all;
  }

  function draw() {
    var width = canvas.clientWidth;
    if (!width) return;
    var height = width < 560 ? 190 : 240, left = 52, right = 8, top = 10, bottom = 22, bars = 34;
    var floor = height - bottom - bars - 8;
    var end = points[points.length - 1].t;
    var over = [1, 2, 5, 10].find(function (m) { return m === 10 || end - points[0].t <= m * 60000; }); // minutes
    var begin = end - over * 60000;
    var seen = points.filter(function (p) { return p.p50 !== undefined && p.t >= begin; });
    var low = 1, high = 1000, most = 1;
    seen.forEach(function (p) {
      while (p.p95 > high) high *= 10;
      most = Math.max(most, p.n);
    });
    if (seen.length) {
      low = high;
      seen.forEach(function (p) { while (p.p50 < low && low > 0.1) low /= 10; });
    }
    function x(t) { return left + (width - left - right) * (t - begin) / (end - begin); }
    function y(ms) { return floor - (floor - top) * Math.log(Math.max(ms, low) / low) / Math.log(high / low); }
    var svg = node("svg", { viewBox: "0 0 " + width + " " + height, role: "img" });
    svg.setAttribute("aria-label", "Time from load to searchable, per second, over the last minutes. The figures above give the same values.");
    for (var ms = low; ms <= high * 1.01; ms *= 10) {
      svg.appendChild(node("line", { "class": "rule", x1: left, x2: width - right, y1: y(ms), y2: y(ms) }));
      svg.appendChild(node("text", { x: left - 8, y: y(ms) + 4, "text-anchor": "end" }, span(Number(ms.toPrecision(1)))));
    }
    var steps = width < 560 ? 2 : 5;
    for (var i = 0; i <= steps; i++) {
      var ago = over * 60 * (steps - i) / steps; // seconds
      var label = ago === 0 ? "now" : "−" + (over > 2 ? Math.round(ago / 6) / 10 + " min" : Math.round(ago) + " s");
      svg.appendChild(node("text", { x: x(end - ago * 1000), y: height - 4, "text-anchor": i === 0 ? "start" : i === steps ? "end" : "middle" }, label));
    }
    var foot = height - bottom;
    svg.appendChild(node("line", { "class": "rule", x1: left, x2: width - right, y1: foot, y2: foot }));
    var wide = Math.max((width - left - right) / (over * 60) - 1, 0.8);
    seen.forEach(function (p) {
      var h = bars * p.n / most;
      svg.appendChild(node("rect", { "class": "found", x: x(p.t) - wide, y: foot - h, width: wide, height: h }));
    });
    svg.appendChild(node("text", { x: left - 8, y: foot - bars / 2 + 8, "text-anchor": "end" }, most + "/s"));
    runs(seen).forEach(function (run) {
      function line(name) {
        return run.map(function (p, i) { return (i ? "L" : "M") + x(p.t).toFixed(1) + " " + y(p[name]).toFixed(1); }).join("");
      }
      var back = run.slice().reverse().map(function (p) { return "L" + x(p.t).toFixed(1) + " " + y(p.p50).toFixed(1); }).join("");
      svg.appendChild(node("path", { "class": "band", d: line("p95") + back + "Z" }));
      ["p95", "p50"].forEach(function (name) {
        // The round caps make a line of zero length a dot.
        svg.appendChild(node("path", { "class": name, d: line(name) + (run.length === 1 ? "h.01" : "") }));
      });
    });
    if (!seen.length) {
      svg.appendChild(node("text", { "class": "none", x: (left + width - right) / 2, y: (top + floor) / 2, "text-anchor": "middle" }, width < 560 ? "no page in this period" : "no page became searchable in this period"));
    }
    graph.setAttribute("data-points", points.length);
    canvas.replaceChildren(svg);
  }

  function redraw() {
    if (points.length) { graph.hidden = false; draw(); }
  }

  var source = new EventSource(page.getAttribute("data-events"));
  source.addEventListener("update", function (e) {
    var u = JSON.parse(e.data);
    link.hidden = true;
    show(u.view);
    take(u.points);
    redraw();
    page.setAttribute("data-updates", Number(page.getAttribute("data-updates") || 0) + 1);
  });
  source.addEventListener("error", function () {
    link.textContent = source.readyState === EventSource.CLOSED ? "– disconnected; reload the page" : "– reconnecting";
    link.hidden = false;
  });
  window.addEventListener("resize", redraw);
  window.addEventListener("pagehide", function () { source.close(); });
})();
