// The ten commonest crowd-* elements, written anew: crowd-form, crowd-button, crowd-input, crowd-text-area,
// crowd-radio-group, crowd-radio-button, crowd-checkbox, crowd-slider, crowd-classifier, crowd-instructions.
// crowd-form sends one field, taskAnswers, with a JSON list of one object; answer-format="flatten-objects" sends one
// field per leaf. Plain form fields inside crowd-form are part of the answer as they are.
"use strict";
(function () {
  const parameters = new URLSearchParams(window.location.search);
  const assignment = parameters.get("assignmentId") || "ASSIGNMENT_ID_NOT_AVAILABLE";
  const isPreview = assignment === "ASSIGNMENT_ID_NOT_AVAILABLE";
  let number = 0;

  // What these hold is told by them, not by the plain fields that they are made of.
  const OWNERS = "crowd-button, crowd-checkbox, crowd-classifier, crowd-input, crowd-radio-button, crowd-slider, crowd-text-area";

  function make(tag, values, ...inside) {
    const made = Object.assign(document.createElement(tag), values);
    made.append(...inside);
    return made;
  }
  function list(text) {
    try { return JSON.parse(text); } catch (error) { return JSON.parse(text.replace(/'/g, '"')); }
  }
  // An element builds itself once its children are there; value() is what it adds to the answer.
  class Crowd extends HTMLElement {
    connectedCallback() {
      if (this.built) return;
      this.built = true;
      if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => this.build());
      else this.build();
    }
    build() {}
    value() { return undefined; }
    problem() { return null; }
    get required() { return this.hasAttribute("required"); }
    flag(name) { return this.hasAttribute(name) && this.getAttribute(name) !== "false"; }
  }
  class Field extends Crowd {
    control() { return make("input", { type: this.getAttribute("type") || "text" }); }
    build() {
      this.field = this.control();
      this.field.id = "crowd-" + (++number);
      for (const name of ["placeholder", "min", "max", "step", "value", "pattern", "rows", "maxlength"])
        if (this.hasAttribute(name)) this.field.setAttribute(name, this.getAttribute(name));
      this.field.disabled = this.flag("disabled");
      if (this.hasAttribute("value")) this.field.value = this.getAttribute("value");
      const label = make("label", { htmlFor: this.field.id }, this.getAttribute("label") || "");
      this.append(label, this.field);
    }
    value() { return this.field.value; }
    problem() {
      if (this.required && !String(this.field.value).trim()) return this.field;
      return this.field.checkValidity && !this.field.checkValidity() ? this.field : null;
    }
  }
  class Input extends Field {}
  class TextArea extends Field { control() { return make("textarea", {}); } }
  class Slider extends Field {
    control() { return make("input", { type: "range", min: "0", max: "100", step: "1" }); }
    build() {
      super.build();
      const shown = make("output", {}, this.field.value);
      this.field.addEventListener("input", () => { shown.textContent = this.field.value; });
      this.append(shown);
    }
    value() { return Number(this.field.value); }
  }
  class Checkbox extends Crowd {
    build() {
      this.field = make("input", { type: "checkbox", checked: this.flag("checked"), disabled: this.flag("disabled") });
      const label = make("label", {}, this.field, ...Array.from(this.childNodes));
      this.append(label);
    }
    value() { return { [this.getAttribute("value") || "on"]: this.field.checked }; }
    problem() { return this.required && !this.field.checked ? this.field : null; }
  }
  class RadioButton extends Crowd {
    build() {
      const group = this.closest("crowd-radio-group");
      if (group && !group.groupName) group.groupName = "crowd-group-" + (++number);
      this.field = make("input", { type: "radio", name: group ? group.groupName : this.getAttribute("name") || "", checked: this.flag("checked"), disabled: this.flag("disabled") });
      this.append(make("label", {}, this.field, ...Array.from(this.childNodes)));
    }
    value() { return { [this.getAttribute("value") || "on"]: this.field.checked }; }
  }
  class RadioGroup extends Crowd {
    build() { this.setAttribute("role", "radiogroup"); }
    problem() {
      const buttons = Array.from(this.querySelectorAll("crowd-radio-button"));
      return this.required && !buttons.some((each) => each.field.checked) ? buttons[0].field : null;
    }
  }
  class Classifier extends Crowd {
    build() {
      const name = "crowd-" + (++number), box = make("fieldset", {}, make("legend", {}, this.getAttribute("header") || ""));
      const short = this.querySelector("short-instructions"), full = this.querySelector("full-instructions");
      const target = this.querySelector("classification-target");
      if (short) this.append(short);
      if (full) this.append(make("details", {}, make("summary", {}, full.getAttribute("header") || "Full instructions"), full));
      if (target) this.append(target);
      this.fields = list(this.getAttribute("categories") || "[]").map((each) => {
        const value = typeof each === "string" ? each : each.value, text = typeof each === "string" ? each : each.label;
        const field = make("input", { type: "radio", name: name, value: value });
        box.append(make("label", {}, field, " " + text));
        return field;
      });
      this.append(box);
    }
    value() {
      const chosen = this.fields.find((each) => each.checked);
      return { label: chosen ? chosen.value : null };
    }
    problem() { return this.fields.some((each) => each.checked) ? null : this.fields[0]; }
  }
  class Instructions extends Crowd {
    build() {
      const box = make("details", {}, make("summary", {}, this.getAttribute("link-text") || "Instructions"), ...Array.from(this.childNodes));
      this.append(box);
    }
  }
  class Button extends Crowd {
    build() {
      const isSubmit = this.getAttribute("form-action") === "submit";
      this.field = make("button", { type: "button", disabled: this.flag("disabled") || (isSubmit && isPreview) }, ...Array.from(this.childNodes));
      if (isSubmit) this.field.addEventListener("click", () => { const form = this.closest("crowd-form"); if (form) form.submit(); });
      if (this.getAttribute("form-action") === "reset") this.field.addEventListener("click", () => { const form = this.closest("form"); if (form) form.reset(); });
      this.append(this.field);
    }
  }
  class Form extends Crowd {
    build() {
      this.form = make("form", { method: "post", action: "/mturk/externalSubmit" });
      this.form.append(...Array.from(this.childNodes));
      this.append(this.form);
      if (!this.querySelector("crowd-button[form-action=submit], button[type=submit], input[type=submit]"))
        this.form.append(make("p", {}, make("button", { type: "submit", disabled: isPreview }, "Submit")));
      this.form.addEventListener("submit", (event) => { event.preventDefault(); this.submit(); });
    }
    answer() {
      const answer = {};
      for (const each of this.querySelectorAll("*")) {
        const name = each.getAttribute("name");
        if (!name) continue;
        if (each instanceof Crowd) {
          const value = each.value();
          if (value === undefined) continue;
          answer[name] = answer[name] && typeof value === "object" ? { ...answer[name], ...value } : value;
        } else if (each.form === this.form && !["button", "submit", "file"].includes(each.type) && !each.closest(OWNERS)) {
          if (each.type === "radio") { if (each.checked) answer[name] = each.value; }
          else if (each.type === "checkbox") answer[name] = { ...(answer[name] || {}), [each.value]: each.checked };
          else if (name !== "assignmentId") answer[name] = each.value;
        }
      }
      return answer;
    }
    submit() {
      const handler = typeof this.onsubmit === "function" ? this.onsubmit(new Event("submit", { cancelable: true })) : true;
      if (isPreview || handler === false) return;
      for (const each of this.querySelectorAll("*")) {
        const problem = each instanceof Crowd ? each.problem() : null;
        if (problem) { problem.setAttribute("aria-invalid", "true"); problem.focus(); return; }
      }
      if (!this.form.reportValidity()) return;
      const sent = make("form", { method: "post", action: "/mturk/externalSubmit", hidden: true });
      const add = (name, value) => sent.append(make("input", { type: "hidden", name: name, value: value }));
      add("assignmentId", assignment);
      const answer = this.answer();
      if (this.getAttribute("answer-format") === "flatten-objects") flatten(answer, "", add);
      else add(document.documentElement.dataset.taskAnswers || "taskAnswers", JSON.stringify([answer]));
      document.body.append(sent);
      HTMLFormElement.prototype.submit.call(sent);
    }
  }
  function flatten(value, path, add) {
    if (value !== null && typeof value === "object")
      for (const [name, each] of Object.entries(value)) flatten(each, path ? path + "." + name : name, add);
    else add(path, value === null ? "" : String(value));
  }
  const elements = {
    "crowd-button": Button, "crowd-checkbox": Checkbox, "crowd-classifier": Classifier, "crowd-input": Input,
    "crowd-instructions": Instructions, "crowd-radio-button": RadioButton, "crowd-radio-group": RadioGroup,
    "crowd-slider": Slider, "crowd-text-area": TextArea, "crowd-form": Form,
  };
  for (const [name, each] of Object.entries(elements)) if (!customElements.get(name)) customElements.define(name, each);
})();
