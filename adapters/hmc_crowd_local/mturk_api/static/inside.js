// Runs inside the work's frame, on an origin of its own: fills in the assignment, stops previews, keeps a draft, and
// says that somebody is at work. What is typed goes into the draft only, never into an event.
"use strict";
(function () {
  const parameters = new URLSearchParams(window.location.search);
  const assignment = parameters.get("assignmentId") || "";
  const isPreview = assignment === "" || assignment === "ASSIGNMENT_ID_NOT_AVAILABLE";
  const tell = (message) => { if (window.parent !== window) window.parent.postMessage(message, "*"); };
  const own = new Set(["assignmentId", "workerId", "hitId", "turkSubmitTo"]);

  function forms() { return Array.from(document.querySelectorAll("form")); }
  function prepare(form) {
    let field = form.querySelector("input[name=assignmentId]");
    if (!field) {
      field = document.createElement("input");
      field.type = "hidden"; field.name = "assignmentId";
      form.appendChild(field);
    }
    field.value = assignment;
    if (isPreview) form.querySelectorAll("button, input[type=submit]").forEach((each) => { each.disabled = true; });
  }
  function draft() {
    const fields = [];
    forms().forEach((form) => new FormData(form).forEach((value, name) => {
      if (!own.has(name) && typeof value === "string") fields.push([name, value]);
    }));
    tell({ hmc: "draft", fields: fields });
  }
  function restore(fields) {
    const values = new Map();
    fields.forEach(([name, value]) => values.set(name, [...(values.get(name) || []), value]));
    forms().forEach((form) => Array.from(form.elements).forEach((each) => {
      if (!values.has(each.name) || own.has(each.name)) return;
      if (each.type === "radio" || each.type === "checkbox") each.checked = values.get(each.name).includes(each.value);
      else if (each.type !== "file") each.value = values.get(each.name)[0];
    }));
  }
  let waiting = null, last = 0;
  function used() {
    if (isPreview) return;
    const now = Date.now();
    if (now - last > 1000) { last = now; tell({ hmc: "input" }); }
    clearTimeout(waiting);
    waiting = setTimeout(draft, 1000);
  }
  window.addEventListener("message", (event) => {
    if (event.source === window.parent && event.data && event.data.hmc === "restore") restore(event.data.fields);
  });
  document.addEventListener("submit", (event) => { if (isPreview) event.preventDefault(); }, true);
  ["input", "change", "keydown", "pointerdown", "scroll"].forEach((kind) => document.addEventListener(kind, used, true));
  function start() { forms().forEach(prepare); tell({ hmc: "ready" }); }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start); else start();
})();
