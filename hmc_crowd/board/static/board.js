// Keeps the figures of a campaign's page up to date; without it the page is reloaded by hand.
"use strict";
(() => {
  const first = document.getElementById("live");
  if (!first || !window.EventSource) return;
  const status = document.getElementById("watching");
  const say = (text) => { status.hidden = false; if (status.textContent !== text) status.textContent = text; };
  const source = new EventSource(first.dataset.watch);
  source.addEventListener("open", () => say("The figures above are kept up to date."));
  source.addEventListener("error", () => say("The connection is lost; the figures may be old."));
  source.addEventListener("figures", async (event) => {
    const shown = document.getElementById("live");
    if (shown.dataset.mark === event.data) return;
    const reply = await fetch(shown.dataset.part, { credentials: "same-origin" });
    if (!reply.ok) return;
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const fresh = page.getElementById("live");
    if (fresh) shown.replaceWith(document.adoptNode(fresh));
  });
})();
