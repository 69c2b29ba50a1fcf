"use strict";
// All that is shown is made by textContent: what stands in a message is never markup.

const $ = (id) => document.getElementById(id);
const fragment = new URLSearchParams(location.hash.slice(1));
const token = fragment.get("token") ?? "";
const windowName = crypto.randomUUID();
const digits = (number) => number.toLocaleString("en");
const counted = (number, noun) => `${digits(number)} ${noun}${number === 1 ? "" : "s"}`;
const LIMIT = 20;
// For each number that a row is for a selector: sign, colour, words.
const TRUTHS = [["✗", "FALSE", "not selected"], ["✓", "TRUE", "selected"], ["?", "UNKNOWN", "unknown"], ["!", "ERR", "skipped"]];
const COUNTS = { true: "TRUE", false: "FALSE", unknown: "UNKNOWN", mismatched: "type mismatch", error: "ERR" };

let asked = 0;
let request = new AbortController();
let offset = Number(fragment.get("offset") ?? 0);
let chosen = /^[0-9]{1,15}$/.test(fragment.get("row")) ? Number(fragment.get("row")) : -1;
let answer = { rows: [], copies: {}, shown: 0 };
let messages = -1;
let later = 0;

function make(tag, text = "", attributes = {}, ...children) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function button(text, use) {
  const made = make("button", text, { type: "button" });
  made.addEventListener("click", use);
  return made;
}

function table(head, rows) {
  const top = make("tr", "", {}, ...head.map((one) => make("th", one, { scope: "col" })));
  const cells = (row) => row.map((one) => make("td", "", typeof one === "number" ? { class: "number" } : {},
    typeof one === "number" ? digits(one) : one));
  return make("table", "", {}, make("thead", "", {}, top),
    make("tbody", "", {}, ...rows.map((row) => make("tr", "", {}, ...cells(row)))));
}

function part({ text, depth }) {
  const code = make("code", text);
  code.style.paddingInlineStart = `${depth * 1.2}em`;
  return code;
}

// ---- questions

function state() {
  const second = $("comparing").open ? $("second").value : "";
  return { selector: $("selector").value, dialect: $("dialect").value, second, show: $("show").value, offset, row: chosen };
}

function link() {
  const usual = { selector: "", dialect: "", second: "", show: "all", offset: 0, row: -1 };
  const given = Object.entries(state()).filter(([name, value]) => value !== usual[name]);
  return `${location.origin}${location.pathname}#${new URLSearchParams([["token", token], ...given])}`;
}

async function ask(name, signal) {
  const body = JSON.stringify({ window: windowName, number: asked, ...state() });
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const response = await fetch(`api/${name}`, { method: "POST", signal, body, headers });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

// Ask, and show the answer unless another question of the kind has come.
async function show(name, use, signal) {
  try {
    const found = await ask(name, signal);
    if (!signal?.aborted && !found.cancelled) use(found);
  } catch (error) {
    if (!signal?.aborted) showTrouble(error);
  }
}

// A question ends the one before it, here and in the server.
function look() {
  request.abort();
  request = new AbortController();
  asked += 1;
  clearTimeout(later);
  history.replaceState(null, "", link());
  const { signal } = request;
  return show("look", (found) => {
    showLook(found);
    if (!found.error && !found.trouble) {
      later = setTimeout(() => show("reasons", showReasons, signal), 250);
      if (chosen >= 0) choose(chosen);
    }
  }, signal);
}

function choose(row) {
  chosen = row;
  mark();
  history.replaceState(null, "", link());
  return show("message", (found) => row === chosen && showMessage(found));
}

async function watch() {
  const found = await ask("state");
  $("source").textContent = `${found.files.slice(0, 3).join(", ")}${found.files.length > 3 ? ` and ${digits(found.files.length - 3)} more` : ""}${found.kinds ? ` (${found.kinds})` : ""}: ` +
    `${counted(found.messages, "message")}${found.megabytes ? `, ${digits(found.megabytes)} MB in memory` : ""}`;
  $("progress").hidden = !found.reading;
  $("progress").value = found.share;
  $("notes").replaceChildren(...found.notes.map((one) => make("li", one)));
  $("show").querySelector("[value=nobody]").hidden = !found.inventory;
  const isNew = found.messages !== messages;
  messages = found.messages;
  if (isNew) look();
  setTimeout(() => watch().catch(showTrouble), found.reading || isNew ? 400 : 5000);
}

// ---- answers

function showTrouble(error) {
  const gone = error instanceof TypeError;
  $("hints").className = "wrong";
  $("hints").replaceChildren(make("p", gone ? "The server has ended: start mqsel explore again." : error.message));
}

function write(text, field = $("selector")) {
  field.focus();
  field.select();
  // What is inserted can be undone, a value that is set cannot.
  if (!document.execCommand("insertText", false, text)) field.value = text;
  offset = 0;
  look();
}

const fixes = (list, field) => list.map((one) => button(one.label, () => write(one.text, field)));

function showLook(found) {
  const { error } = found;
  const field = error?.of ? $("second") : $("selector");
  for (const one of [$("selector"), $("second")]) one.setAttribute("aria-invalid", String(Boolean(error) && one === field));
  $("hints").className = error || found.trouble ? "wrong" : "";
  if (error || found.trouble) {
    const goTo = () => {
      const signs = Array.from(field.value); // spans count characters, fields their halves
      const [start, stop] = error.span.map((at) => signs.slice(0, at).join("").length);
      field.focus();
      field.setSelectionRange(start, Math.max(stop, start + 1));
    };
    // What stands above a caret is not folded.
    const lines = (error?.text ?? found.trouble).split("\n");
    const drawn = lines.filter((one) => one.startsWith("  |"));
    const said = lines.filter((one) => !drawn.includes(one)).map((one) => make("p", one));
    $("hints").replaceChildren(said[0], ...(drawn.length ? [make("pre", drawn.join("\n"))] : []), ...said.slice(1),
      ...(error ? [...fixes(error.fixes, field), button("show the place", goTo)] : []));
    $("counts").textContent = "the selector is invalid";
    return;
  }
  answer = found;
  offset = found.offset;
  $("counts").textContent = `${digits(found.selected)} of ${counted(found.messages, "message")} selected, ` +
    `${digits(found.unknown)} unknown${found.skipped ? `, ${digits(found.skipped)} skipped` : ""}` +
    (state().second ? `; the second adds ${digits(found.gained)}, and drops ${digits(found.lost)}` : "");
  $("hints").replaceChildren();
  showRows();
}

function showRows() {
  $("rows").replaceChildren(...answer.rows.map((one) => {
    const signs = one.truths.map((truth) => make("span", TRUTHS[truth][0], { class: TRUTHS[truth][1] }));
    const words = one.truths.map((truth) => TRUTHS[truth][2]).join(" and ");
    const row = make("div", "", { role: "option", id: `row${one.row}`, title: one.place,
      "aria-label": `${words}, ${one.place}, ${one.read} ${one.text}` }, ...signs, make("bdi", "", {},
      make("b", one.read), one.read ? "  " : "", make("span", one.text, { class: one.read ? "quiet" : "" })));
    row.addEventListener("click", () => choose(one.row));
    return row;
  }));
  mark();
  const last = offset + answer.rows.length;
  $("place").textContent = answer.shown ? `${digits(offset + 1)} to ${digits(last)} of ${digits(answer.shown)}` : "no messages";
  $("before").disabled = offset === 0;
  $("after").disabled = last >= answer.shown;
}

function mark() {
  for (const row of $("rows").children) row.setAttribute("aria-selected", String(row.id === `row${chosen}`));
  $("rows").setAttribute("aria-activedescendant", $(`row${chosen}`) ? `row${chosen}` : "");
}

function showReasons(found) {
  if (found.trouble) return;
  const [first, ...others] = found.sentences;
  $("hints").replaceChildren(...fixes(found.fixes),
    ...found.findings.map((one) => make("p", `${one.text} `, {}, ...fixes(one.fixes))));
  $("why").replaceChildren(
    make("p", "", {}, make("b", first)), ...[...others, ...found.notes].map((one) => make("p", one)),
    table(["part", ...Object.values(COUNTS)], found.parts.map((one) => [part(one), ...Object.keys(COUNTS).map((name) => one[name])])),
    ...(found.properties.length ? [table(["property", "present", "types", "most frequent values"], found.properties.map((one) =>
      [one.name, one.present, Object.keys(one.types).join(", "), one.values.map((each) => String(each.value)).join(", ")]))] : []));
}

function showMessage(found) {
  const parts = [make("h3", found.where ?? "")];
  const add = (tag, text, kind = "") => parts.push(make(tag, text, { class: kind }));
  const { judged } = found;
  if (found.trouble) add("p", found.trouble, "FALSE");
  if (judged) {
    add("p", `${judged.selected ? "✓ selected" : "✗ not selected"}${judged.decided ? `: ${judged.decided}` : ""}`, judged.selected ? "TRUE" : "FALSE");
    if (judged.change) add("p", judged.change);
    parts.push(table(["part", "truth", "reason"], judged.parts.map((one) =>
      [part(one), make("span", one.truth ?? "not evaluated", { class: one.truth ?? "quiet" }), one.reason])));
  }
  for (const one of found.breaches ?? []) add("p", `violates the contract: ${one}`, "FALSE");
  if (found.gets) {
    add("p", found.receivers ? `${counted(found.receivers, "selector")} of the inventory matched:` : "No selector of the inventory matches. The nearest:");
    for (const one of found.gets) {
      const use = button(one.key, () => { $("dialect").value = one.dialect; write(one.selector); });
      use.title = one.selector;
      parts.push(make("p", "", {}, use, ` ${one.change}`));
    }
    if (found.left) add("p", `and ${digits(found.left)} more`);
    if (found.untried) add("p", `${counted(found.untried, "more selector")} not tried: mqsel route --why reports each`);
  }
  if (found.properties?.length) parts.push(table(["property", "type", "value"], found.properties));
  if (found.note) add("p", `left out: ${found.note}`);
  parts.push(make("pre", found.text ?? "", { class: "whole" }));
  $("message").replaceChildren(...parts);
}

// ---- the keyboard, and the rest

function turn(step) {
  offset = Math.max(0, offset + step * LIMIT);
  look();
}

function onKey(event) {
  const at = answer.rows.findIndex((one) => one.row === chosen);
  const to = { ArrowDown: at + 1, ArrowUp: Math.max(at - 1, 0), Home: 0, End: answer.rows.length - 1 }[event.key];
  if (event.key === "PageDown" && !$("after").disabled) turn(1);
  else if (event.key === "PageUp" && !$("before").disabled) turn(-1);
  else if (to !== undefined && answer.rows[to]) {
    choose(answer.rows[to].row);
    $(`row${chosen}`).scrollIntoView({ block: "nearest" });
  } else return;
  event.preventDefault();
}

async function copy({ target }) {
  const text = target.dataset.copy === "link" ? link() : answer.copies[target.dataset.copy] || "not for a DataFrame";
  await navigator.clipboard.writeText(text).then(() => { $("copied").textContent = "copied"; }, () => { $("copied").textContent = text; });
}

async function start() {
  for (const [name, value] of fragment) if (["selector", "second", "show"].includes(name)) $(name).value = value;
  $("dialect").value = fragment.get("dialect") ?? "IBM_MQ";
  $("comparing").open = fragment.has("second");
  for (const id of ["selector", "second", "dialect", "show"]) $(id).addEventListener("input", () => { offset = 0; look(); });
  $("comparing").addEventListener("toggle", look);
  $("rows").addEventListener("keydown", onKey);
  $("before").addEventListener("click", () => turn(-1));
  $("after").addEventListener("click", () => turn(1));
  for (const one of document.querySelectorAll("[data-copy]")) one.addEventListener("click", copy);
  $("selector").focus();
  if (token) await watch().catch(showTrouble);
  else showTrouble(new Error("This URL has no token: open the URL that mqsel explore printed."));
}

start();
