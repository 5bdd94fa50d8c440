"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const parents = JSON.parse(byId("parents").textContent);
  const entries = [...document.querySelectorAll(".entry")];
  const nodes = [...document.querySelectorAll("nav a[data-n]")];
  const nav = byId("tree");
  let branch = new Set(entries.filter((e) => !e.classList.contains("off")).map((e) => Number(e.dataset.e)));

  // The end of the newest branch that goes through an entry.
  const newest = (from) => {
    const within = new Set([from]);
    let last = from;
    for (let at = 0; at < parents.length; at++) {
      if (within.has(parents[at])) { within.add(at); last = at; }
    }
    return last;
  };
  const showBranch = (leaf) => {
    branch = new Set();
    for (let at = leaf; at >= 0 && !branch.has(at); at = parents[at]) branch.add(at);
    for (const entry of entries) entry.classList.toggle("off", !branch.has(Number(entry.dataset.e)));
    for (const node of nodes) node.classList.toggle("off", !branch.has(Number(node.dataset.n)));
    search();
  };
  // Goes to what the address names, on whatever branch it is.
  const go = () => {
    const at = Number((/^#e(\d+)$/.exec(location.hash) || [])[1] ?? NaN);
    if (!(at >= 0 && at < parents.length)) return;
    if (!branch.has(at)) showBranch(newest(at));
    for (const node of nodes) node.classList.toggle("at", Number(node.dataset.n) === at);
    let target = byId("e" + at);
    for (let up = target; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    if (target) target.scrollIntoView({ block: "start" });
  };
  addEventListener("hashchange", go);
  nav.addEventListener("click", (event) => {
    const node = event.target.closest("a[data-n]");
    if (!node) return;
    nav.classList.remove("drawer");
    if (location.hash === node.getAttribute("href")) { event.preventDefault(); go(); }
  });
  byId("tree-open").addEventListener("click", () => nav.classList.toggle("drawer"));

  // Search: entries that do not have all words go away.
  const box = byId("search"), found = byId("found"), nothing = byId("nothing");
  const articles = [...document.querySelectorAll("main > article")];
  const highlights = self.CSS && CSS.highlights;
  const mark = (article, words) => {
    const ranges = [];
    const walk = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
    for (let text = walk.nextNode(); text; text = walk.nextNode()) {
      const content = text.data.toLowerCase();
      for (const word of words) {
        for (let at = content.indexOf(word); at >= 0; at = content.indexOf(word, at + word.length)) {
          if (at + word.length > text.length) break;
          const range = new Range();
          range.setStart(text, at);
          range.setEnd(text, at + word.length);
          ranges.push(range);
          for (let up = text.parentElement; up && up !== article; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
        }
      }
    }
    return ranges;
  };
  const search = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let hits = 0;
    const ranges = [];
    for (const article of articles) {
      const text = words.length && !article.classList.contains("off") ? article.textContent.toLowerCase() : "";
      const hit = words.every((word) => text.includes(word));
      article.classList.toggle("lost", !hit);
      if (words.length && hit) { hits++; if (highlights && ranges.length < 5000) ranges.push(...mark(article, words)); }
    }
    if (highlights) highlights.set("search", new Highlight(...ranges));
    found.textContent = words.length ? hits + (hits === 1 ? " entry" : " entries") : "";
    nothing.hidden = !words.length || hits > 0;
  };
  let waiting = 0;
  box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 150); });

  // From prompt to prompt.
  const step = (down) => {
    const prompts = articles.filter((a) => a.classList.contains("user") && !a.classList.contains("off") && !a.classList.contains("lost"));
    // A prompt that was gone to stands right below the bar.
    const below = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);
    const tops = prompts.map((prompt) => prompt.getBoundingClientRect().top - below);
    const at = down ? tops.findIndex((top) => top > 8) : tops.findLastIndex((top) => top < -8);
    if (at >= 0) prompts[at].scrollIntoView({ block: "start" });
    else scrollTo(0, down ? document.body.scrollHeight : 0);
  };
  const fold = (open) => { for (const part of document.querySelectorAll("main details")) part.open = open; };
  const dark = () => {
    const set = document.documentElement.dataset.theme;
    return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };
  const theme = () => {
    const next = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem("troupe-theme", next); } catch { /* a page from a file may keep nothing */ }
  };
  try { const kept = localStorage.getItem("troupe-theme"); if (kept) document.documentElement.dataset.theme = kept; } catch { /* as above */ }
  const actions = { next: () => step(true), previous: () => step(false), expand: () => fold(true), collapse: () => fold(false), theme };
  for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", action);
  const keys = { n: actions.next, p: actions.previous, e: actions.expand, c: actions.collapse, t: theme, "/": () => box.focus() };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") { box.value = ""; search(); box.blur(); nav.classList.remove("drawer"); return; }
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  document.querySelector(".bar").hidden = false;
  go();
})();
