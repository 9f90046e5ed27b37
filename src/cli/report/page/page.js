// The page's own script: draws the figures in the colours of the theme, and switches it.
(function () {
  "use strict";
  var root = document.documentElement;
  var dark = JSON.parse(document.getElementById("nigh-dark").textContent);
  var plots = Array.prototype.slice.call(document.querySelectorAll(".nigh-plot"));
  var wants = window.matchMedia("(prefers-color-scheme: dark)");

  function isDark() { return root.getAttribute("data-theme") === "dark"; }

  function coloured(value) {
    if (typeof value === "string") return isDark() && Object.prototype.hasOwnProperty.call(dark, value) ? dark[value] : value;
    if (Array.isArray(value)) return value.map(coloured);
    if (value && typeof value === "object") {
      var copy = {};
      Object.keys(value).forEach(function (key) { copy[key] = coloured(value[key]); });
      return copy;
    }
    return value;
  }

  function draw() {
    plots.forEach(function (plot) {
      var figure = coloured(JSON.parse(document.getElementById(plot.id + "-data").textContent));
      if (plot.clientWidth < 480) {
        figure.layout.margin.r = 4;
        if (figure.layout.yaxis && figure.layout.yaxis.ticktext) figure.layout.yaxis.tickfont.size = 10;
      }
      Plotly.react(plot, figure.data, figure.layout, {responsive: true, displaylogo: false, displayModeBar: false});
    });
  }

  function set(theme) {
    root.setAttribute("data-theme", theme);
    var button = document.getElementById("theme");
    button.textContent = theme === "dark" ? "Light page" : "Dark page";
    draw();
  }

  document.getElementById("theme").addEventListener("click", function () { set(isDark() ? "light" : "dark"); });
  wants.addEventListener("change", function (event) { set(event.matches ? "dark" : "light"); });

  Array.prototype.forEach.call(document.querySelectorAll(".copy"), function (button) {
    button.addEventListener("click", function () {
      var text = button.parentNode.querySelector("code").textContent;
      function done() { button.textContent = "Copied"; setTimeout(function () { button.textContent = "Copy"; }, 1500); }
      if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, function () {});
    });
  });

  var before = null;
  window.addEventListener("beforeprint", function () {
    before = root.getAttribute("data-theme");
    set("light");
    plots.forEach(function (plot) { Plotly.relayout(plot, {width: 680}); });
  });
  window.addEventListener("afterprint", function () { if (before) set(before); });

  set(wants.matches ? "dark" : "light");
  root.setAttribute("data-drawn", String(plots.length));
})();
