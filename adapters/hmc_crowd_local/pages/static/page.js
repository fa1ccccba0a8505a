// Helps where it can and is needed nowhere: keeps each answer the moment it is given, tells the server what the page
// saw (never what was typed), and lets the keyboard choose. Whatever fails here, the plain form still works.
"use strict";
(function () {
  const form = document.getElementById("answer");
  const watched = document.getElementById("main").dataset;

  // Number keys: for the question that has the focus, else the first that is open.
  const keys = document.getElementById("keys");
  const asks = Array.from(document.querySelectorAll("fieldset[data-ask]"));
  if (keys && asks.length) {
    keys.closest("details").hidden = false;
    try { keys.checked = localStorage.getItem("number-keys") !== "off"; } catch (e) { /* no storage: on */ }
    const show = () => document.body.classList.toggle("no-keys", !keys.checked);
    keys.addEventListener("change", () => {
      show();
      try { localStorage.setItem("number-keys", keys.checked ? "on" : "off"); } catch (e) { /* for this page only */ }
    });
    show();
  }
  function isTyping(target) { return target.closest("textarea, input[type=text], input[type=number], [contenteditable]") !== null; }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isTyping(event.target)) return;
    if (/^[1-9]$/.test(event.key) && (!keys || keys.checked)) {
      const own = event.target.closest("fieldset[data-ask]");
      const ask = own || asks.find((each) => !each.querySelector("input:checked")) || asks[0];
      const input = ask && ask.querySelectorAll(".choice input")[Number(event.key) - 1];
      if (input) { event.preventDefault(); input.focus(); input.click(); }
    }
    if (event.key === "Enter" && event.target.matches("fieldset[data-ask] input")) {
      const main = event.target.form.querySelector("button.main");
      if (main) { event.preventDefault(); main.click(); }
    }
  });
  // None of these, or some of these.
  document.addEventListener("change", (event) => {
    const input = event.target;
    if (input.type !== "checkbox" || !input.checked || !input.closest("fieldset[data-ask]")) return;
    const others = Array.from(input.closest("fieldset").querySelectorAll("input[type=checkbox]")).filter((each) => each !== input);
    others.filter((each) => (input.value === "none") !== (each.value === "none")).forEach((each) => { each.checked = false; });
  });

  // What the page saw. Numbers and clocks of this opening of the page; the server dates it by its own clock.
  const page = Array.from(crypto.getRandomValues(new Uint8Array(12)), (each) => each.toString(16).padStart(2, "0")).join("");
  const number = Number(watched.number);
  let seq = 0, waiting = [], lastInput = 0, sending = false;
  function note(kind) {
    if (!watched.events) return;
    waiting.push({ seq: seq++, kind: kind, t: performance.now(), epoch: Date.now(), n: number });
    if (waiting.length >= 40) flush(false);
  }
  function flush(isLast) {
    if (!waiting.length || (sending && !isLast)) return;
    const batch = waiting.slice(0, 400);
    const body = JSON.stringify({ form: watched.eventsForm, page: page, now: performance.now(), events: batch });
    if (isLast && navigator.sendBeacon) {
      navigator.sendBeacon(watched.events, new Blob([body], { type: "text/plain" }));
      return; // they stay until the server says it has them: numbers make twice the same as once
    }
    sending = true;
    fetch(watched.events, { method: "POST", body: body, keepalive: body.length < 60000, headers: { "Content-Type": "text/plain" } })
      .then((answer) => { if (answer.status < 500 && answer.status !== 429) waiting = waiting.filter((each) => !batch.includes(each)); })
      .catch(() => { /* kept for the next time */ })
      .finally(() => { sending = false; });
  }
  function used() {
    const now = performance.now();
    if (now - lastInput >= 1000) { lastInput = now; note("input"); }
  }
  if (watched.events) {
    ["pointerdown", "pointermove", "keydown", "scroll", "wheel", "touchstart"].forEach((kind) =>
      document.addEventListener(kind, used, { capture: true, passive: true }));
    document.addEventListener("visibilitychange", () => { note(document.hidden ? "hidden" : "visible"); flush(document.hidden); });
    window.addEventListener("focus", () => note("focus"));
    window.addEventListener("blur", () => note("blur"));
    window.addEventListener("pagehide", () => { note("hidden"); flush(true); });
    window.addEventListener("pageshow", (event) => { if (event.persisted) window.location.reload(); });
    setInterval(() => { note("heartbeat"); flush(false); }, 15000);
    note("shown");
    flush(false);
  }
  if (!form) return;

  // Drafts: every change is sent; what could not be sent is sent again until it is.
  const status = document.getElementById("status");
  let dirty = false, saving = null, timer = null, pauseMs = 1000, leaving = false, isSaved = true;
  function say(text, isBad) { status.textContent = text; status.classList.toggle("bad", Boolean(isBad)); }
  function filled(action) {
    const body = new URLSearchParams(new FormData(form));
    body.set("do", action);
    // A number that is out of bounds must not keep the other answers from being saved.
    form.querySelectorAll("input[type=number]:invalid").forEach((each) => body.delete(each.name));
    return body;
  }
  function send(action) {
    return fetch(form.action, { method: "POST", body: filled(action), headers: { Accept: "application/json" } });
  }
  function save() {
    clearTimeout(timer);
    timer = null;
    if (saving) return saving; // what changed meanwhile goes when this one is through
    dirty = false;
    say(form.dataset.saving);
    saving = send("save").then((answer) => {
      if (answer.status >= 500 || answer.status === 429) throw new Error("later");
      if (!answer.ok) { say(form.dataset.unsaved, true); return null; }
      return answer.json();
    }).then((told) => {
      pauseMs = 1000;
      if (!told) return;
      Object.entries(told.marks || {}).forEach(([name, mark]) => {
        const field = form.elements["was_" + name];
        if (field) field.value = mark; // what the server has now, whatever the page says by now
      });
      isSaved = !dirty;
      if (isSaved) say(form.dataset.saved);
    }).catch(() => {
      dirty = true;
      say(navigator.onLine ? form.dataset.unsaved : form.dataset.offline, true);
      timer = setTimeout(save, pauseMs);
      pauseMs = Math.min(pauseMs * 2, 15000);
    }).finally(() => { saving = null; if (dirty && timer === null && !leaving) save(); });
    return saving;
  }
  function changed(afterMs) {
    dirty = true;
    isSaved = false;
    say(form.dataset.saving); // never "saved" beside something that is not
    clearTimeout(timer);
    timer = setTimeout(save, afterMs);
  }
  form.addEventListener("change", (event) => {
    note("answer");
    if (event.target.validity.valid) changed(0);
    else say(event.target.validationMessage, true);
  });
  form.addEventListener("input", (event) => { if (event.target.matches("textarea, input[type=number]:valid")) changed(1500); });
  // Who goes elsewhere, or puts the phone away, keeps what he typed last. Only where sending failed before may leaving
  // lose something: then the browser asks.
  function keep() {
    if (dirty && !leaving && navigator.sendBeacon(form.action, filled("save"))) dirty = false;
  }
  window.addEventListener("pagehide", keep);
  document.addEventListener("visibilitychange", () => { if (document.hidden && dirty && !leaving) save(); });
  window.addEventListener("online", () => { pauseMs = 1000; if (dirty) save(); flush(false); });
  window.addEventListener("offline", () => say(form.dataset.offline, true));

  // Going on: sent by script, so that a lost line leaves the page, and the answer on it, where it is.
  function go(action) {
    send(action).then((answer) => {
      if (answer.status >= 500 || answer.status === 429) throw new Error("later");
      if (!answer.ok) { plain(action); return; }
      return answer.json().then((told) => { window.location.assign(told.next); });
    }).catch(() => {
      say(navigator.onLine ? form.dataset.unsaved : form.dataset.offline, true);
      setTimeout(() => go(action), pauseMs);
      pauseMs = Math.min(pauseMs * 2, 15000);
    });
  }
  function plain(action) {
    const field = document.createElement("input");
    field.type = "hidden"; field.name = "do"; field.value = action;
    form.append(field);
    form.submit();
  }
  form.addEventListener("submit", (event) => {
    const action = (event.submitter && event.submitter.value) || "next";
    event.preventDefault();
    if (leaving) return;
    leaving = true;
    clearTimeout(timer);
    note("submit");
    flush(false);
    Promise.resolve(saving).then(() => {
      clearTimeout(timer);
      dirty = false;
      // What is kept already needs no sending.
      if (isSaved && navigator.onLine && form.dataset[action]) window.location.assign(form.dataset[action]);
      else go(action);
    });
  });
  window.addEventListener("beforeunload", (event) => {
    if (dirty && !leaving && (!navigator.onLine || pauseMs > 1000)) event.preventDefault();
    else keep();
  });
})();
