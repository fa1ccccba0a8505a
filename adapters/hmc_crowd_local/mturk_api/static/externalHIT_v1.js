// The helper that legacy HIT pages load: reads the page's parameters and prepares the form.
"use strict";
function turkGetParam(name, fallback) {
  const value = new URLSearchParams(window.location.search).get(name);
  return value === null ? (fallback === undefined ? "" : fallback) : value;
}
function gup(name) { return turkGetParam(name, ""); }
function turkSetAssignmentID(value) {
  const id = value || turkGetParam("assignmentId", "");
  const field = document.getElementById("assignmentId");
  if (field) field.value = id;
  const button = document.getElementById("submitButton");
  if (button && id === "ASSIGNMENT_ID_NOT_AVAILABLE") {
    button.disabled = true;
    button.value = "You must ACCEPT the HIT before you can submit the results.";
  }
}
