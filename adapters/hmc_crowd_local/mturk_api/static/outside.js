// Runs around the work's frame: sends what the page saw, and drafts, to the workplace. Nothing here can stop a submit.
"use strict";
(function () {
  const me = document.currentScript.dataset, frame = document.getElementById("work");
  const who = { assignmentId: me.assignment, workerId: me.worker, key: me.key };
  // Numbers go on where an earlier opening of the page ended: they begin at the second of the opening.
  let seq = Math.floor(Date.now() / 1000) % 1000000000, events = [];
  function send(path, body, last) {
    const text = JSON.stringify({ ...who, ...body });
    if (last && navigator.sendBeacon) navigator.sendBeacon(path, new Blob([text], { type: "application/json" }));
    else fetch(path, { method: "POST", body: text, keepalive: text.length < 60000, headers: { "Content-Type": "application/json" } }).catch(() => {});
  }
  function note(kind) { events.push({ seq: seq++, kind: kind, t: performance.now() }); if (events.length >= 20) flush(false); }
  function flush(last) { if (events.length) { const batch = events; events = []; send("/mturk/events", { events: batch }, last); } }
  window.addEventListener("message", (event) => {
    if (event.source !== frame.contentWindow || !event.data) return;
    if (event.data.hmc === "input") note("input");
    if (event.data.hmc === "draft") send("/mturk/draft", { fields: event.data.fields }, false);
    if (event.data.hmc === "ready") fetch("/mturk/draft?" + new URLSearchParams(who)).then((answer) => answer.json())
      .then((draft) => frame.contentWindow.postMessage({ hmc: "restore", fields: draft.fields }, "*")).catch(() => {});
  });
  document.addEventListener("visibilitychange", () => { note(document.hidden ? "hidden" : "visible"); flush(false); });
  window.addEventListener("focus", () => note("focus"));
  window.addEventListener("blur", () => { if (document.activeElement !== frame) note("blur"); });
  window.addEventListener("pagehide", () => flush(true));
  setInterval(() => { note("heartbeat"); flush(false); }, 15000);
  note("shown"); flush(false);
})();
