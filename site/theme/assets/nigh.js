// SPDX-License-Identifier: Apache-2.0
// What the theme leaves to the mouse: labels that open parts of the menu, and boxes that scroll, take the keyboard, too.
"use strict";

function openByKey(label) {
  const box = document.getElementById(label.htmlFor);
  if (!box) return;
  const tell = () => label.setAttribute("aria-expanded", box.checked);
  label.tabIndex = 0;
  label.setAttribute("role", "button");
  if (!label.textContent.trim() && !label.title)
    label.setAttribute("aria-label", { __drawer: "Menu", __search: "Search" }[label.htmlFor] || "Close");
  label.addEventListener("keydown", event => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    label.click();
  });
  box.addEventListener("change", tell);
  tell();
}

function scrollByKey() {
  for (const box of document.querySelectorAll(".md-typeset pre, .md-typeset pre > code, .md-typeset__scrollwrap, .md-typeset__table, .man table")) {
    const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
    if (scrolls && box.tabIndex !== 0) box.tabIndex = 0;
  }
}

document.querySelectorAll("label.md-nav__link[for], label.md-header__button[for=__drawer], label.md-header__button[for=__search]").forEach(openByKey);
addEventListener("load", scrollByKey);
addEventListener("resize", scrollByKey);
// The theme takes tabindex away from boxes that it has measured too early.
new MutationObserver(scrollByKey).observe(document.body, { subtree: true, attributeFilter: ["tabindex"] });
