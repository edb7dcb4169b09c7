// Elements from a few words. Text is always text: names and values of writers never become markup.

/**
 * element('button', { class: 'x', onclick: f, 'aria-label': 'y' }, 'text', child, …); null children
 * are left out.
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (name === 'value' || name === 'checked') made[name] = value;
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const byId = (id) => document.getElementById(id);

export function select(options, value, attributes = {}) {
  const known = options.some((option) => (option.value ?? option) === value);
  const all = known ? options : [value, ...options];
  const made = element(
    'select',
    attributes,
    ...all.map((option) =>
      element('option', { value: option.value ?? option }, option.text ?? option),
    ),
  );
  made.value = value;
  return made;
}

/**
 * Runs render, which makes the content of a container anew, and gives the focus back to what now
 * stands where it was: the same class, and the same data-id or the same place among its like.
 */
export function keepFocus(container, render) {
  const active = document.activeElement;
  const name = container.contains(active) ? active.classList[0] : undefined;
  if (name === undefined) return render();
  const { id } = active.dataset;
  const like = `.${CSS.escape(name)}${id === undefined ? '' : `[data-id="${CSS.escape(id)}"]`}`;
  const place = [...container.querySelectorAll(like)].indexOf(active);
  render();
  container.querySelectorAll(like)[place]?.focus();
}

let pointerDown = false;
let afterRelease = [];

function release() {
  pointerDown = false;
  const waiting = afterRelease;
  afterRelease = [];
  // The click comes after the button is up.
  setTimeout(() => waiting.forEach((go) => go()));
}

// Of what opens a list or a menu nobody hears when the button is up.
const OPENS = 'select, input:not([type=checkbox])';
addEventListener(
  'pointerdown',
  (event) => {
    pointerDown = event.button === 0 && !event.target.closest?.(OPENS);
  },
  true,
);
for (const end of ['pointerup', 'pointercancel', 'dragend']) addEventListener(end, release, true);

/**
 * Once no button of the pointer is down: what is replaced between its two halves of a click, or
 * while it drags, takes that away.
 */
export function released() {
  return pointerDown ? new Promise((go) => afterRelease.push(go)) : Promise.resolve();
}

/** Calls f once the calls have stopped for that long. */
export function settled(f, ms) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => f(...values), ms);
  };
}
